/**
 * Many events to a receiver that fails now and then, while the relays that send them are killed again and again: then everything is counted.
 * Relays and receiver are real processes; the events are runs that are submitted meanwhile.
 */

import { randomBytes, randomUUID } from 'node:crypto'
import type pg from 'pg'
import { seededRandom } from '../../src/model/model.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { newRun } from '../support/new-run.ts'
import type { Place, Running } from '../support/processes.ts'
import { until } from '../support/until.ts'
import type { Report } from './receiver.ts'

export type RelayChaosOptions = {
  events: number
  /** The part of requests that the receiver fails. */
  fail: number
  /** A relay is killed whenever so much time has passed, and so many more have been taken. */
  killEveryMs: number
  killEveryTaken: number
  /** Each has so long to do something, so that a machine on which they are slow to start gets on. */
  livesMs: number
  relays: number
  seed: number
  timeoutMs: number
}

export type RelayChaosFigures = {
  seconds: number
  events: number
  kills: number
  requests: number
  refused: number
  /** Messages that were taken more than once, and were known by their id. */
  repeats: number
  mostRepeats: number
  /** Sends of which no relay lived to tell. */
  unheard: number
  mostAttempts: number
  dead: number
  violations: string[]
}

const SECRET = `whsec_${randomBytes(24).toString('base64')}`
const RECEIVER = new URL('./receiver.ts', import.meta.url)
const START_MS = 120_000
/** Short, and as many as there are by default: what counts is how many failures end a delivery. */
export const CHAOS_SETTINGS = {
  HOLDFAST_RELAY_LEASE_SECONDS: '4',
  HOLDFAST_RELAY_POLL_SECONDS: '0.1',
  HOLDFAST_DELIVERY_DELAYS_SECONDS: '0.2,0.3,0.5,0.5,1,1,1,2,2',
  HOLDFAST_WEBHOOK_ALLOW: '127.0.0.1',
}

type Around = { pool: pg.Pool; place: Place; url: string }

export async function relayChaos(
  { pool, place, url }: Around,
  options: RelayChaosOptions,
  progress: (line: string) => void,
): Promise<RelayChaosFigures> {
  const fromMs = performance.now()
  const receiver = place.runScript(RECEIVER, [String(options.fail), String(options.seed), SECRET])
  const relays = startRelays(place, options)
  const address = String((await receiver.says('receiving', START_MS)).url)
  const read = async () => (await (await fetch(`${address}/report`)).json()) as Report
  const store = openStore({ url })
  try {
    const hook = { id: randomUUID(), owner: '*', url: `${address}/hook`, kinds: ['run.created' as const] }
    await store.receivers.addWebhook({ ...hook, description: null, secret: SECRET, slots: 400, createdBy: 'chaos' })
    const submitted = submitAll(store, options.events)
    await killUntilAllTaken(relays, {
      ...options,
      progress,
      taken: async () => Object.keys((await read()).taken).length,
    })
    const ids = await submitted
    await untilSettled(pool, options)
    await relays.stop()
    const verified = await verify(pool, ids, await read())
    return { seconds: (performance.now() - fromMs) / 1_000, events: options.events, kills: relays.kills(), ...verified }
  } finally {
    await store.close()
  }
}

/** In parts, so that relays die while facts are being written, too. */
async function submitAll(store: Store, events: number): Promise<Set<string>> {
  const ids = new Set<string>()
  while (ids.size < events) {
    const runs = Array.from({ length: Math.min(100, events - ids.size) }, () => newRun())
    await store.submitMany(runs)
    for (const { id } of runs) ids.add(`${id.replaceAll('-', '')}_1`)
  }
  return ids
}

type Relays = { kills(): number; kill(): Promise<void>; check(): void; stop(): Promise<void> }

/** One that is killed is replaced at once. */
function startRelays(place: Place, { relays: size, seed, livesMs }: RelayChaosOptions): Relays {
  const random = seededRandom(seed, 1)
  let kills = 0
  const relays = Array.from({ length: size }, () => place.run(['relay']))
  const startedAtMs = ({ lines }: Running) => Date.parse(String(lines.find(({ msg }) => msg === 'relay started')?.time))
  const up = (sinceMs = 0) => relays.filter((one) => one.isRunning() && Date.now() - startedAtMs(one) >= sinceMs)

  function check(): void {
    const ended = relays.find((relay) => !relay.isRunning())
    if (ended) throw new Error(`a relay ended by itself: ${ended.text()} ${JSON.stringify(ended.lines.slice(-3))}`)
  }

  return {
    kills: () => kills,
    check,
    async kill() {
      const ripe = () => up(livesMs).length > 0 && up(livesMs)
      const ready = await until(ripe, { what: 'a relay is up', timeoutMs: START_MS })
      const relay = ready[Math.floor(random() * ready.length)]!
      relay.kill('SIGKILL')
      await relay.exited
      relays.splice(relays.indexOf(relay), 1, place.run(['relay']))
      kills += 1
    },
    async stop() {
      await until(() => up().length === relays.length, { what: 'all relays are up', timeoutMs: START_MS })
      for (const relay of relays) relay.kill('SIGTERM')
      const ends = await Promise.all(relays.map(({ exited }) => exited))
      if (ends.some(({ code }) => code !== 0)) throw new Error(`a relay did not stop well: ${JSON.stringify(ends)}`)
    },
  }
}

type Killing = RelayChaosOptions & { taken: () => Promise<number>; progress: (line: string) => void }

async function killUntilAllTaken(relays: Relays, options: Killing): Promise<void> {
  const { events, killEveryMs, killEveryTaken, timeoutMs, taken, progress } = options
  let [killedAtMs, killedAtTaken] = [performance.now(), 0]
  const isAllTaken = async () => {
    relays.check()
    const count = await taken()
    if (count >= events) return true
    if (performance.now() - killedAtMs < killEveryMs || count - killedAtTaken < killEveryTaken) return false
    await relays.kill()
    ;[killedAtMs, killedAtTaken] = [performance.now(), count]
    if (relays.kills() % 10 === 0) progress(`${relays.kills()} kills, ${count} of ${events} events taken`)
    return false
  }
  await until(isAllTaken, { what: `${events} events are taken`, timeoutMs, everyMs: 50 })
}

async function untilSettled(pool: pg.Pool, { timeoutMs }: RelayChaosOptions): Promise<void> {
  const left = async () => {
    const { rows } = await pool.query<{ left: number }>(
      `SELECT count(*)::int AS left FROM holdfast.deliveries WHERE state = 'PENDING'`,
    )
    return rows[0]!.left === 0
  }
  await until(left, { what: 'nothing waits any more', timeoutMs, everyMs: 50 })
}

const COUNT = `
SELECT count(*) FILTER (WHERE state = 'DELIVERED')::int AS delivered, count(*) FILTER (WHERE state = 'DEAD')::int AS dead,
  count(*)::int AS deliveries, count(DISTINCT message_id)::int AS messages, coalesce(max(attempts), 0) AS "mostAttempts",
  (SELECT count(*)::int FROM holdfast.delivery_attempts WHERE duration_ms IS NULL) AS unheard,
  (SELECT count(*)::int FROM holdfast.outbox WHERE spread_at IS NULL) AS unspread
FROM holdfast.deliveries`

type Verified = Omit<RelayChaosFigures, 'seconds' | 'events' | 'kills'>

async function verify(pool: pg.Pool, ids: Set<string>, { taken, refused, wrong }: Report): Promise<Verified> {
  const { delivered, dead, deliveries, messages, mostAttempts, unheard, unspread } = (await pool.query(COUNT)).rows[0]
  const times = Object.values(taken)
  const violations = [
    ...wrong,
    ...[...ids].filter((id) => !taken[id]).map((id) => `${id} never arrived`),
    ...Object.keys(taken)
      .filter((id) => !ids.has(id))
      .map((id) => `${id} arrived and is no event`),
    ...(deliveries === ids.size && messages === ids.size ? [] : [`${deliveries} deliveries of ${messages} messages`]),
    ...(delivered === ids.size ? [] : [`${delivered} of ${ids.size} are DELIVERED`]),
    ...(dead === 0 ? [] : [`${dead} are DEAD`]),
    ...(unspread === 0 ? [] : [`${unspread} facts were never spread`]),
  ]
  const requests = times.reduce((sum, count) => sum + count, 0) + refused
  const repeats = times.filter((count) => count > 1).length
  return { requests, refused, repeats, mostRepeats: Math.max(0, ...times), unheard, mostAttempts, dead, violations }
}
