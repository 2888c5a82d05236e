/** Opens the store on a Postgres: its pools, and each verb bound to the right one. */

import type { SpreadSettings } from '../run/fact.ts'
import { openAccess } from './access.ts'
import { ADMISSION_PARTS } from './admission-parts.ts'
import { createAdmission } from './admit.ts'
import { createArtifacts } from './artifacts.ts'
import { bindArtifactsFolder } from './artifacts-folder.ts'
import { createAttemptLogs } from './attempt-logs.ts'
import { createAttempts } from './attempts.ts'
import { createBatches } from './batches.ts'
import { createBlocks } from './blocks.ts'
import { createBulk } from './bulk.ts'
import { cancelRun } from './cancel.ts'
import { createClaim } from './claim.ts'
import { deleteExpiredKeys } from './clean-keys.ts'
import { openPool } from './connect.ts'
import { createCosts } from './costs.ts'
import { countReservations } from './count-reservations.ts'
import { createDeliveries } from './deliveries.ts'
import { createDirectory } from './directory.ts'
import { createFeed } from './feed.ts'
import { FEED_SETTINGS } from './feed-batch.ts'
import { createFiles } from './files.ts'
import { createBlobs } from './find-unnamed-blobs.ts'
import { createHintBehind } from './hint-behind.ts'
import { keepConnections } from './kept-connection.ts'
import { createLanes } from './lanes.ts'
import { createOutbox } from './outbox.ts'
import { createOverdue } from './overdue.ts'
import { isConnectionLost, unavailable } from './pg-errors.ts'
import { saveProgress } from './progress.ts'
import { queueDepths, readQueues, setQueuePaused } from './queues.ts'
import { createRuleCopy } from './quota-rules.ts'
import { createQuotas } from './quotas.ts'
import { readResult, readRun } from './read-run.ts'
import { createReceivers } from './receivers.ts'
import { confirmOverdueCancels, createReclaim } from './reclaim.ts'
import { findModel, forgetDeadWorkers, listModelNames, registerWorker, workerStopped } from './register-worker.ts'
import { createRemote } from './remote.ts'
import { createReservations } from './reservations.ts'
import { createResumableUploads } from './resumable-uploads.ts'
import { createSearch } from './search.ts'
import { createSettle } from './settle.ts'
import { signingKey } from './signing-key.ts'
import { createStats } from './stats.ts'
import { createSteps } from './steps.ts'
import type { Store } from './store.ts'
import { createSubmit } from './submit.ts'
import { createViews } from './views.ts'

export type OpenStoreOptions = {
  url: string
  /** Connections for reads and single statements; the hot paths have their own few. */
  poolMax?: number
  submitLanes?: number
  settleLanes?: number
  name?: string
  /** How much of what an attempt prints is kept. */
  logBytesMax?: number
  /** How facts become deliveries. */
  spread?: Partial<SpreadSettings>
  /** Where wake-ups go through Postgres: what to notify of a run in this queue. A submit that comes alone does it by itself then. */
  topicOf?: (queue: string) => string
}

export function openStore({
  url,
  poolMax = 10,
  submitLanes = 2,
  settleLanes = 2,
  name = 'holdfast',
  logBytesMax,
  spread,
  topicOf,
}: OpenStoreOptions): Store {
  const reads = openPool({ url, name: `${name} read`, max: poolMax })
  // Whoever stops in the middle of an admission holds up all others of its owners.
  const settings = ['idle_in_transaction_session_timeout = 5000']
  const submits = { url, statementTimeoutMs: 10_000, pinPlans: true, settings }
  const batchSettings = { max: 2 * submitLanes, lockTimeoutMs: 100, pipeline: true }
  const batches = openPool({ ...submits, ...batchSettings, name: `${name} submit` })
  const singles = openPool({ ...submits, name: `${name} submit single`, max: 4, lockTimeoutMs: 2_000 })
  const admits = openPool({ ...submits, name: `${name} admit`, max: 2 })
  const work = openPool({ url, name: `${name} work`, max: settleLanes + 6, pinPlans: true })
  const feedPool = openPool({ url, name: `${name} feed`, max: 3, lockTimeoutMs: 100, settings: FEED_SETTINGS })
  const searches = openPool({ url, name: `${name} search`, max: 4, pinPlans: true })
  const spreads = openPool({ url, name: `${name} spread`, max: 2, pinPlans: true })
  // Both pools have that many connections more.
  const [forSubmit, forClaim] = [keepConnections(batches, submitLanes), keepConnections(work)]
  const pools = [reads, searches, batches, singles, admits, work, feedPool, spreads]

  const lanes = createLanes()
  const admission = createAdmission(ADMISSION_PARTS)
  const rules = createRuleCopy(reads)
  const ways = { lanesKnown: lanes, admission, rules, admitPool: admits, connections: forSubmit }
  const hintBehind = topicOf && createHintBehind(forSubmit, topicOf)
  const submit = createSubmit({ batchPool: batches, singlePool: singles, lanes: submitLanes, hintBehind, ...ways })
  const claim = createClaim({ pool: work, connections: forClaim })
  const { settle, settleAll } = createSettle({ pool: work, lanes: settleLanes })
  const reclaim = createReclaim(work)

  return {
    submit: submit.one,
    submitMany: submit.many,
    claim,
    settle,
    settleAll,
    reclaimExpired: reclaim,
    confirmOverdueCancels: (options) => confirmOverdueCancels(work, options),
    cancel: (runId, sees) => answered(cancelRun(singles, runId, sees)),
    saveProgress: (items) => saveProgress(work, items),
    readRun: (runId, sees) => answered(readRun({ reads, pinned: work }, runId, sees)),
    readResult: (runId) => answered(readResult(reads, runId)),
    registerWorker: (registration) => registerWorker(reads, registration),
    workerStopped: (workerId) => workerStopped(reads, workerId),
    findModel: (name, version) => answered(findModel(reads, name, version)),
    listModelNames: () => answered(listModelNames(reads)),
    readQueues: () => answered(readQueues(reads)),
    setQueuePaused: (queue, paused) => answered(setQueuePaused(reads, queue, paused)),
    queueDepths: () => queueDepths(reads),
    countReservations: () => countReservations(reads),
    deleteExpiredKeys: (limit) => deleteExpiredKeys(work, limit),
    forgetDeadWorkers: (afterMs) => forgetDeadWorkers(reads, afterMs),
    bindArtifactsFolder: (identity) => bindArtifactsFolder(reads, identity),
    signingKey: (key) => answered(signingKey(reads, key)),
    search: createSearch(searches, answered),
    views: createViews(reads, answered),
    bulk: createBulk(reads, answered),
    feed: createFeed({ feedPool, reads, answered }),
    ...openAccess(reads, answered),
    directory: createDirectory(reads, answered),
    stats: createStats({ feedPool, reads, answered }),
    attempts: createAttempts({ work, reads }, answered),
    attemptLogs: createAttemptLogs({ work, reads, bytesMax: logBytesMax }, answered),
    artifacts: createArtifacts({ work, reads }, answered),
    blobs: createBlobs(reads),
    blocks: createBlocks({ singles, pinned: work }, answered),
    overdue: createOverdue(work, answered),
    costs: createCosts(work, answered),
    batches: createBatches(reads, answered),
    files: createFiles({ reads, singles, lanes, admission, rules }, answered),
    resumableUploads: createResumableUploads(reads, answered),
    quotas: createQuotas({ reads, work, parts: ADMISSION_PARTS }, answered),
    reservations: createReservations({ reads, singles, admission }, answered),
    steps: createSteps({ work, reads }, answered),
    outbox: createOutbox({ pinned: spreads, reads, settings: spread }, answered),
    receivers: createReceivers(reads, answered),
    deliveries: createDeliveries({ work, reads }, answered),
    remote: createRemote(work, { claim, settle }, answered),
    async ping() {
      await reads.query('SELECT 1')
    },
    async close() {
      for (const kept of [forSubmit, forClaim]) kept.close()
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
