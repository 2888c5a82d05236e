/**
 * A store on a database of its own, and the few steps most tests of it begin with. A step that does not go as a test needs it
 * throws, so that the test fails where the reason is.
 */

import { beat as sendBeat } from '../../src/store/heartbeat.ts'
import { type OpenStoreOptions, openStore } from '../../src/store/open-store.ts'
import type { ClaimRequest, Lease, NewRun, Run, Settled, Settlement, Store, Submitted } from '../../src/store/store.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { newRun } from './new-run.ts'
import type { ServerVersion } from './postgres-versions.ts'

export type TestStore = {
  database: TestDatabase
  store: Store
  /** Submits a run that must be accepted as new. */
  add(changes?: Partial<NewRun>): Promise<Run>
  /** Claims up to so many runs, of the default queue and model unless told otherwise. */
  claim(changes?: ClaimChanges): Promise<Lease[]>
  /** Submits a run of a model of its own and claims it. */
  running(changes?: Partial<NewRun>, workerId?: string, leaseMs?: number): Promise<Lease>
  beat(lease: Lease, changes?: { workerId?: string; leaseMs?: number; deadlineGraceMs?: number }): Promise<string>
  events(runId: string): Promise<string[]>
  /** Forgets every run and sets the clock right, for tests of verbs that look at all runs. */
  clear(): Promise<void>
  close(): Promise<void>
}

export type ClaimChanges = Partial<ClaimRequest>

export const WORKER = 'worker-1'
let models = 0

/** A model no other test of this process has runs of. */
export function ownModel(): string {
  models += 1
  return `model-${models}`
}

export async function openTestStore(
  server: ServerVersion,
  options: Partial<OpenStoreOptions> = {},
): Promise<TestStore> {
  const database = await createTestDatabase({ server })
  const store = openStore({ url: database.url, ...options })

  async function add(changes: Partial<NewRun> = {}): Promise<Run> {
    const { run, idempotentHit } = accepted(await store.submit(newRun(changes)))
    if (idempotentHit) throw new Error(`expected a new run, found ${run.id}`)
    return run
  }

  function claim({ slots = 1, ...changes }: ClaimChanges = {}): Promise<Lease[]> {
    return store.claim({
      workerId: WORKER,
      leaseMs: 60_000,
      slots,
      queues: [{ queue: 'default', room: slots }],
      models: [{ model: 'forecast', version: '1', room: slots }],
      ...changes,
    })
  }

  return {
    database,
    store,
    add,
    claim,
    async running(changes = {}, workerId = WORKER, leaseMs = 60_000) {
      const run = await add({ model: ownModel(), ...changes })
      const [lease] = await claim({
        workerId,
        leaseMs,
        queues: [{ queue: run.queue, room: 1 }],
        models: [{ model: run.model, version: run.modelVersion, room: 1 }],
      })
      if (lease?.runId !== run.id) throw new Error(`run ${run.id} was not claimed`)
      return lease
    },
    async beat({ runId, epoch }, { workerId = WORKER, leaseMs = 60_000, deadlineGraceMs = 0 } = {}) {
      const leases = [{ runId, epoch }]
      return (await sendBeat(database.pool, { workerId, leaseMs, deadlineGraceMs, leases }))[0]!.state
    },
    async events(runId) {
      const rows = await database.query<{ type: string }>(
        'SELECT type FROM run_events WHERE run_id = $1 ORDER BY seq',
        [runId],
      )
      return rows.map((row) => row.type)
    },
    async clear() {
      await database.query(
        `BEGIN; SET LOCAL holdfast.retention = 'on'; DELETE FROM run_results; DELETE FROM run_events; DELETE FROM run_attempts; DELETE FROM run_logs; DELETE FROM run_artifacts; DELETE FROM attempt_outcomes; DELETE FROM run_steps;
         DELETE FROM run_search; DELETE FROM run_tags; DELETE FROM run_facets; DELETE FROM run_places; DELETE FROM run_overdue; DELETE FROM payload_slots; DELETE FROM model_runs; COMMIT`,
      )
      await database.shiftClock('0')
    },
    async close() {
      await store.close()
      await database.drop()
    },
  }
}

export function accepted(answer: Submitted | Error): Submitted {
  if (answer instanceof Error) throw answer
  return answer
}

export function settlementOf(
  { runId, epoch, attempt, row }: Lease,
  kind: Settlement['kind'],
  more: Partial<Settlement> = {},
): Settlement {
  const result = kind === 'succeed' ? { result: { ref: 'inline', hash: 'f'.repeat(64), text: '{"ok":true}' } } : {}
  const failed = kind === 'fail' || kind === 'retry' || kind === 'lost'
  const error = failed ? { error: { class: 'Error', message: 'it broke', stack: null } } : {}
  return { runId, epoch, attempt, row, workerId: WORKER, kind, ...result, ...error, ...more }
}

export function settle(
  { store }: { store: Store },
  lease: Lease,
  kind: Settlement['kind'],
  more?: Partial<Settlement>,
): Promise<Settled> {
  return store.settle(settlementOf(lease, kind, more))
}
