/**
 * Many documents through the real service while its workers are killed, and its API now and then: then everything is counted.
 *
 * The kills are spread over the work: one is due whenever another part of the runs has ended.
 */

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { Holdfast } from '../../client/src/index.ts'
import { makeSamples, type Sample } from '../../examples/document-pipeline/make-samples.ts'
import { createDiskBlobStore } from '../../src/blob/disk.ts'
import { seededRandom } from '../../src/model/model.ts'
import { freePort } from '../../src/store/embedded/free-port.ts'
import type { Place } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { type Fleet, START_MS, startFleet, type Way } from './fleet.ts'
import { type Handed, handIn } from './hand-in.ts'
import { verifyBlobs, verifyDocuments, verifyHistory, verifySteps } from './verify.ts'

export const MODELS = fileURLToPath(new URL('./counted-pipeline.ts', import.meta.url))
const MODEL = 'document_pipeline_v1'
/** The last part of the work is left in peace, so that all kills come while there is work. */
const KILLED_PART = 0.85

export type ChaosOptions = {
  count: number
  kills: number
  /** Of the API, while documents are handed in. */
  apiKills: number
  seed: number
  workers: number
  batchSize: number
  /** Uploads at once. */
  uploads: number
  duplicates: number
  broken: number
  timeoutMs: number
}

export type ChaosFigures = {
  seconds: number
  documents: number
  done: number
  error: number
  duplicate: number
  kills: Fleet['kills']
  apiKills: number
  attempts: number
  stepsExecuted: number
  stepsCommitted: number
  /** Executions that a kill made necessary. */
  stepsRepeated: number
  blobs: number
  violations: string[]
}

export async function documentChaos(
  { pool, place }: { pool: pg.Pool; place: Place },
  options: ChaosOptions,
  progress: (line: string) => void,
): Promise<ChaosFigures> {
  const fromMs = performance.now()
  const random = seededRandom(options.seed, 0)
  const port = await freePort()
  const startApi = async () => {
    const api = place.run(['api'], { HOLDFAST_PORT: String(port) })
    const { url } = await api.says('listening', START_MS)
    return { ...api, url: String(url) }
  }
  const fleetOptions = { random, env: { HOLDFAST_MODELS: MODELS } }
  const [firstApi, fleet] = await Promise.all([startApi(), startFleet(place, options.workers, fleetOptions)])
  let api = firstApi
  // An API that was killed may take its time to come back.
  const client = new Holdfast({ url: api.url, timeoutMs: 30_000, retries: 7 })
  let apiKills = 0

  async function killApi(): Promise<void> {
    api.kill('SIGKILL')
    await api.exited
    api = await startApi()
  }

  let restarting = Promise.resolve()
  const handing = handInAll(client, options, progress, (uploaded) => {
    const due = ((apiKills + 1) / (options.apiKills + 1)) * options.count
    if (apiKills === options.apiKills || uploaded < due) return
    apiKills += 1
    restarting = restarting.then(killApi)
    // What else fails is told first.
    restarting.catch(() => {})
  })
  await Promise.all([handing, killThroughout(pool, fleet, options, { random, progress })])
  const handed = await handing
  await restarting
  await untilEnded(pool, fleet, options, progress)
  await fleet.stop()
  const figures = await verified({ pool, client, place, handed })
  api.kill('SIGTERM')
  await api.exited
  return { seconds: (performance.now() - fromMs) / 1_000, kills: fleet.kills, apiKills, ...figures }
}

async function handInAll(
  client: Holdfast,
  options: ChaosOptions,
  progress: (line: string) => void,
  onUploaded: (uploaded: number) => void,
): Promise<Handed[]> {
  const { count, duplicates, broken, seed, batchSize, uploads } = options
  const handed: Handed[] = []
  let batch: { index: number; sample: Sample }[] = []
  let uploaded = 0
  const onFile = () => {
    uploaded += 1
    onUploaded(uploaded)
  }
  const send = async () => {
    const inPieces = (index: number) => index % 10 === 0
    handed.push(...(await handIn(client, batch, { model: MODEL, concurrency: uploads, inPieces, onFile })))
    batch = []
    progress(`${handed.length} of ${count} documents handed in`)
  }
  let index = 0
  for (const sample of makeSamples({ count, duplicates, broken, seed })) {
    batch.push({ index, sample })
    index += 1
    if (batch.length === batchSize) await send()
  }
  if (batch.length > 0) await send()
  return handed
}

type Killing = { random: () => number; progress: (line: string) => void }

async function killThroughout(pool: pg.Pool, fleet: Fleet, options: ChaosOptions, killing: Killing): Promise<void> {
  const { count, kills, duplicates, timeoutMs } = options
  const runs = count - Math.round(count * duplicates)
  for (let kill = 0; kill < kills; kill += 1) {
    const due = Math.floor((kill / kills) * runs * KILLED_PART)
    let ended = 0
    const isDue = async () => {
      fleet.check()
      ended = await endedRuns(pool)
      return ended >= due
    }
    await until(isDue, { what: `${due} runs have ended`, timeoutMs, everyMs: 100 })
    const way = wayOf(kill, killing.random)
    await fleet.kill(way)
    if (kill % 10 === 9 || kill === kills - 1) killing.progress(`${kill + 1} kills, ${ended} of ${runs} runs ended`)
  }
}

/** Each way has its turn, so that few kills have them all. */
function wayOf(kill: number, random: () => number): Way {
  const ways: Way[] = ['between a step and its commit', 'anywhere', 'before a step', 'anywhere']
  return ways[(kill + (random() < 0.1 ? 1 : 0)) % ways.length]!
}

async function endedRuns(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM holdfast.model_runs WHERE finished_at IS NOT NULL',
  )
  return rows[0]!.count
}

async function untilEnded(
  pool: pg.Pool,
  fleet: Fleet,
  { timeoutMs }: ChaosOptions,
  progress: (line: string) => void,
): Promise<void> {
  let told = 0
  await until(
    async () => {
      const { rows } = await pool.query<{ left: number }>(
        'SELECT count(*)::int AS left FROM holdfast.model_runs WHERE finished_at IS NULL',
      )
      const { left } = rows[0]!
      fleet.check()
      if (performance.now() - told > 10_000) {
        told = performance.now()
        progress(`${left} runs have not ended`)
      }
      return left === 0
    },
    { what: 'all runs have ended', timeoutMs, everyMs: 100 },
  )
}

async function verified({
  pool,
  client,
  place,
  handed,
}: {
  pool: pg.Pool
  client: Holdfast
  place: Place
  handed: Handed[]
}): Promise<Omit<ChaosFigures, 'seconds' | 'kills' | 'apiKills'>> {
  const steps = await verifySteps(pool, place.folder)
  const documents = await verifyDocuments(pool, client, handed)
  const sweep = place.run(['sweep', '--older-than', '0s'])
  const { code } = await sweep.exited
  const blob = await createDiskBlobStore({ folder: join(place.folder, 'artifacts') })
  const blobs = await verifyBlobs(pool, blob)
  const { rows } = await pool.query<{ attempts: number }>('SELECT count(*)::int AS attempts FROM holdfast.run_attempts')
  const of = (expected: Handed['expected']) => handed.filter((one) => one.expected === expected).length
  return {
    documents: handed.length,
    done: of('DONE'),
    error: of('ERROR'),
    duplicate: of('DUPLICATE'),
    attempts: rows[0]!.attempts,
    stepsExecuted: steps.executed,
    stepsCommitted: steps.committed,
    stepsRepeated: steps.repeated,
    blobs: blobs.blobs,
    violations: [
      ...documents,
      ...steps.violations,
      ...blobs.violations,
      ...(await verifyHistory(pool)),
      ...(code === 0 ? [] : [`the sweep ended with ${code}: ${sweep.text()}`]),
    ],
  }
}
