/** Opens the store on a Postgres: its pools, and each verb bound to the right one. */

import { bindArtifactsFolder } from './artifacts-folder.ts'
import { cancelRun } from './cancel.ts'
import { createClaim } from './claim.ts'
import { deleteExpiredKeys } from './clean-keys.ts'
import { openPool } from './connect.ts'
import { listRuns } from './list-runs.ts'
import { isConnectionLost, unavailable } from './pg-errors.ts'
import { saveProgress } from './progress.ts'
import { queueDepths, readQueues, setQueuePaused } from './queues.ts'
import { readResult, readRun } from './read-run.ts'
import { confirmOverdueCancels, createReclaim } from './reclaim.ts'
import { findModel, forgetDeadWorkers, listModelNames, registerWorker, workerStopped } from './register-worker.ts'
import { createSettle } from './settle.ts'
import type { Store } from './store.ts'
import { createSubmit } from './submit.ts'

export type OpenStoreOptions = {
  url: string
  /** Connections for reads and single statements; the hot paths have their own few. */
  poolMax?: number
  submitLanes?: number
  settleLanes?: number
  name?: string
}

export function openStore({
  url,
  poolMax = 10,
  submitLanes = 2,
  settleLanes = 2,
  name = 'holdfast',
}: OpenStoreOptions): Store {
  const reads = openPool({ url, name: `${name} read`, max: poolMax })
  const submits = { url, statementTimeoutMs: 10_000, pinPlans: true }
  const batches = openPool({ ...submits, name: `${name} submit`, max: submitLanes, lockTimeoutMs: 100 })
  const singles = openPool({ ...submits, name: `${name} submit single`, max: 4, lockTimeoutMs: 2_000 })
  const work = openPool({ url, name: `${name} work`, max: settleLanes + 3, pinPlans: true })
  const pools = [reads, batches, singles, work]

  const submit = createSubmit({ batchPool: batches, singlePool: singles, lanes: submitLanes })
  const reclaim = createReclaim(work)

  return {
    submit: submit.one,
    submitMany: submit.many,
    claim: createClaim({ pool: work }),
    settle: createSettle({ pool: work, lanes: settleLanes }),
    reclaimExpired: reclaim,
    confirmOverdueCancels: (options) => confirmOverdueCancels(work, options),
    cancel: (runId) => answered(cancelRun(singles, runId)),
    saveProgress: (items) => saveProgress(work, items),
    readRun: (runId) => answered(readRun(reads, runId)),
    readResult: (runId) => answered(readResult(reads, runId)),
    listRuns: (filter, page) => answered(listRuns(reads, filter, page)),
    registerWorker: (registration) => registerWorker(reads, registration),
    workerStopped: (workerId) => workerStopped(reads, workerId),
    findModel: (name, version) => answered(findModel(reads, name, version)),
    listModelNames: () => answered(listModelNames(reads)),
    readQueues: () => answered(readQueues(reads)),
    setQueuePaused: (queue, paused) => answered(setQueuePaused(reads, queue, paused)),
    queueDepths: () => queueDepths(reads),
    deleteExpiredKeys: (limit) => deleteExpiredKeys(work, limit),
    forgetDeadWorkers: (afterMs) => forgetDeadWorkers(reads, afterMs),
    bindArtifactsFolder: (identity) => bindArtifactsFolder(reads, identity),
    async ping() {
      await reads.query('SELECT 1')
    },
    async close() {
      await Promise.all(pools.map((pool) => pool.end()))
    },
  }
}

/** What a request asks for is refused in words a client can act on when the database cannot be reached. */
async function answered<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    throw isConnectionLost(error) ? unavailable(error) : error
  }
}
