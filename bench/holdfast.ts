/**
 * Holdfast as the service runs it, wired by `src/compose.ts` with default settings.
 *
 * A submit does all that `POST /runs` does below HTTP: parameters checked against the JSON Schema, defaults, payload
 * hash, the group-committed store, the wake-up. A worker writes its log at level info to its standard output, which
 * the benchmark sends to /dev/null, keeps metrics, and has its heartbeat thread and its janitor.
 */

import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { resolveRun } from '../src/api/resolve-run.ts'
import { createRunIds } from '../src/api/run-id.ts'
import { closeParts, createWorker, openParts } from '../src/compose.ts'
import { type Config, loadConfig } from '../src/config/config.ts'
import { definitionOf } from '../src/model/model.ts'
import { Refusal } from '../src/run/errors.ts'
import { migrate } from '../src/store/migrate.ts'
import type { NewRun, Submitted } from '../src/store/store.ts'
import type { Metrics } from '../src/telemetry/metrics.ts'
import type { Contender, Place } from './contender.ts'
import { listener, noop } from './noop-model.ts'

const CONCURRENCY = 3_000
const SENDER = { owner: 'default', key: null, traceParent: null }

export const contender: Contender = {
  name: 'holdfast',
  settings:
    `concurrency ${CONCURRENCY}, never claims more than its free slots; inline model; ` +
    'log at info to /dev/null; metrics, heartbeat thread, janitor and wake-ups on',

  async install({ url }) {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await migrate(client)
    await client.end()
  },

  async openProducer(place) {
    const config = configOf(place, { HOLDFAST_LOG_LEVEL: 'error' })
    const parts = await openParts(config, place.url, 'api')
    const { store, wakeup, metrics } = parts
    const model = definitionOf(noop)
    const nextRunId = createRunIds()
    const queues = new Map()

    function newRun(n: number): NewRun {
      const body = { model: 'noop', parameters: { n } }
      return resolveRun(nextRunId(), body, SENDER, { model, queues, config, nowMs: Date.now() })
    }

    function accepted(submitted: Submitted | Refusal): void {
      if (submitted instanceof Refusal) throw submitted
      if (submitted.idempotentHit) throw new Error('a number was used twice')
      if (!submitted.isHinted) wakeup.hint(`queue:${submitted.run.queue}`, submitted.run.id)
      metrics.runsCreated.inc()
    }

    return {
      submit: async (n) => accepted(await store.submit(newRun(n))),
      submitMany: async (numbers) => (await store.submitMany(numbers.map(newRun))).forEach(accepted),
      close: () => closeParts(parts),
    }
  },

  async startWorker(place, _aim, hooks) {
    listener.onStart = hooks.onStart
    const config = configOf(place, {
      HOLDFAST_CONCURRENCY: String(CONCURRENCY),
      HOLDFAST_MODELS: fileURLToPath(new URL('./noop-model.ts', import.meta.url)),
      HOLDFAST_LOG_FORMAT: 'json',
    })
    const parts = await openParts(config, place.url, 'worker')
    const worker = await createWorker({ ...parts, metrics: listened(parts.metrics, hooks.onDone) }, place.url)
    await worker.start()
  },

  drainedQuery: `SELECT NOT EXISTS (SELECT FROM holdfast.model_runs WHERE status IN ('PENDING', 'RUNNING'))`,
}

function configOf({ url, folder }: Place, settings: NodeJS.ProcessEnv): Config {
  return loadConfig({
    DATABASE_URL: url,
    HOLDFAST_DATA_DIR: `${folder}/data`,
    HOLDFAST_ARTIFACTS_DIR: `${folder}/artifacts`,
    ...settings,
  })
}

/** The counter of succeeded runs goes up after their commit, which is what the benchmark wants to know. */
function listened(metrics: Metrics, onDone: () => void): Metrics {
  const { runsSucceeded } = metrics
  const inc = (n = 1) => {
    runsSucceeded.inc(n)
    for (let i = 0; i < n; i += 1) onDone()
  }
  return { ...metrics, runsSucceeded: { inc } }
}
