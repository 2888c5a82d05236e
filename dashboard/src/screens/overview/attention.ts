/** What needs a person, from what the service says: the worst first, each with the way to where something can be done about it. */

import type { FailureGroup, ModelInfo, Queue, Stats, Webhook, Worker } from '@holdfast/client'
import { formatCount, formatDuration } from '../../parts/format.ts'
import type { Search } from '../../search.ts'

/** So many, or at least so many. */
export type Counted = { count: number; isCapped: boolean }

/** What is known; what is undefined may not be read, or has not been yet. */
export type Known = {
  stats?: Stats | undefined
  rangeWords: string
  queues?: Queue[] | undefined
  models?: ModelInfo[] | undefined
  /** Models of runs that wait, among those that nobody offers. */
  waitingFor?: string[] | undefined
  silentWorkers?: Worker[] | undefined
  overdue?: Counted | undefined
  approvals?: Counted | undefined
  failures?: FailureGroup[] | undefined
  deadDeliveries?: Counted | undefined
  webhooks?: Webhook[] | undefined
}

export type Attention = {
  key: string
  tone: 'bad' | 'waiting'
  what: string
  /** Why it matters or what to do, in a few words. */
  why: string
  link: { to: string; search: Search; words: string }
}

const DAY_MS = 24 * 3_600_000
/** What a run says whose worker was lost. */
const LOST = 'WorkerLost'

export function attentionOf(known: Known, nowMs: number): Attention[] {
  const items = [
    ...(known.queues ?? []).flatMap(ofQueue),
    ...ofModels(known),
    ...ofSilent(known.silentWorkers ?? []),
    ...ofRuns(known),
    ...ofFailures(known.failures ?? [], nowMs),
    ...ofTelling(known),
  ]
  return [...items.filter(({ tone }) => tone === 'bad'), ...items.filter(({ tone }) => tone !== 'bad')]
}

function ofQueue({ queue, paused, live_workers: workers, ...depth }: Queue): Attention[] {
  const waiting = formatCount(depth.pending, depth.pending_capped)
  const found: Attention[] = []
  const link = { to: '/queues', search: { queue }, words: 'Open the queue' }
  if (paused) {
    const why =
      depth.pending > 0 ? `${waiting} waiting; nothing new starts until it is resumed.` : 'Nothing new starts.'
    found.push({ key: `paused ${queue}`, tone: 'waiting', what: `Queue ${queue} is paused`, why, link })
  }
  if (workers > 0) return found
  if (depth.running > 0) {
    const why = `${runs(depth.running, depth.running_capped)} RUNNING there, and nobody is left to take them back.`
    found.push({ key: `stuck ${queue}`, tone: 'bad', what: `Runs in queue ${queue} are stuck`, why, link })
  }
  if (depth.pending > 0 && !paused) {
    const since = depth.oldest_waiting_seconds
    const why = `${waiting} waiting${since === null ? '' : `, the oldest for ${formatDuration(since)}`}. Start a worker for it.`
    found.push({ key: `unserved ${queue}`, tone: 'bad', what: `No live worker serves queue ${queue}`, why, link })
  }
  return found
}

/** Models that no live worker offers in any version. */
export function unoffered(models: ModelInfo[]): string[] {
  return models.filter(({ versions }) => versions.every(({ offered }) => !offered)).map(({ name }) => name)
}

function ofModels({ models = [], queues = [], waitingFor = [] }: Known): Attention[] {
  const served = new Set(queues.filter(({ live_workers: workers }) => workers > 0).map(({ queue }) => queue))
  // A queue that nobody serves has been told of already.
  const told = (name: string) => !served.has(models.find((model) => model.name === name)?.queue ?? '')
  return waitingFor
    .filter((name) => !told(name))
    .map((name) => ({
      key: `unoffered ${name}`,
      tone: 'bad',
      what: `No live worker offers model ${name}`,
      why: 'Runs of it are waiting. Start a worker that has it.',
      link: { to: '/runs', search: { status: 'PENDING', model: name }, words: 'See what waits' },
    }))
}

function ofSilent(workers: Worker[]): Attention[] {
  if (workers.length === 0) return []
  const what = workers.length === 1 ? 'A worker has gone silent' : `${workers.length} workers have gone silent`
  const why = 'Not seen for two minutes, and no goodbye. Their runs are taken back when the leases expire.'
  const link = { to: '/workers', search: { state: 'silent' }, words: 'See which' }
  return [{ key: 'silent', tone: 'waiting', what, why, link }]
}

function ofRuns({ stats, rangeWords, overdue, approvals }: Known): Attention[] {
  const found: Attention[] = []
  if (overdue && overdue.count > 0) {
    const what = `${runs(overdue.count, overdue.isCapped)} overdue`
    const why = 'Running for more than three times what their model expects.'
    const link = { to: '/runs', search: { overdue: 'true' }, words: 'See them' }
    found.push({ key: 'overdue', tone: 'bad', what, why, link })
  }
  const reclaimed = stats?.total.reclaimed ?? 0
  if (reclaimed > 0) {
    const what = reclaimed === 1 ? 'A lease expired' : `${formatCount(reclaimed)} leases expired`
    const why = `In the ${rangeWords}. The worker was lost, and the run was taken back.`
    const link = { to: '/runs', search: { error_class: LOST }, words: 'See the runs' }
    found.push({ key: 'reclaimed', tone: 'waiting', what, why, link })
  }
  if (approvals && approvals.count > 0) {
    const what = `${runs(approvals.count, approvals.isCapped)} waiting for approval`
    const why = 'They are over a limit, and an operator lets them go or rejects them.'
    const link = { to: '/runs', search: { status: 'PENDING', waiting: 'approval' }, words: 'Decide' }
    found.push({ key: 'approval', tone: 'waiting', what, why, link })
  }
  return found
}

/** Failed runs stay for ever; those of the last day are news. */
function ofFailures(groups: FailureGroup[], nowMs: number): Attention[] {
  const recent = groups.filter(({ newest_at: newest }) => nowMs - Date.parse(newest) < DAY_MS)
  if (recent.length === 0) return []
  const kinds = recent.length === 1 ? 'One kind of error' : `${recent.length} kinds of errors`
  return [
    {
      key: 'failures',
      tone: 'bad',
      what: 'Runs of the last day failed for good',
      why: `${kinds}; the dead letters below say which and why.`,
      link: { to: '/runs', search: { status: 'FAILED' }, words: 'See all failed runs' },
    },
  ]
}

function ofTelling({ deadDeliveries, webhooks = [] }: Known): Attention[] {
  const found: Attention[] = []
  if (deadDeliveries && deadDeliveries.count > 0) {
    const { count, isCapped } = deadDeliveries
    const what = `${formatCount(count, isCapped)} ${count === 1 && !isCapped ? 'delivery is' : 'deliveries are'} dead`
    const why = 'They were tried for the last time and can be sent again.'
    const link = { to: '/deliveries', search: { state: 'DEAD' }, words: 'See them' }
    found.push({ key: 'deliveries', tone: 'waiting', what, why, link })
  }
  for (const { webhook_id: id, url, enabled, disabled_reason: reason } of webhooks) {
    if (enabled) continue
    const link = { to: '/receivers', search: {}, words: 'Open webhooks' }
    const what = `The webhook to ${hostOf(url)} is disabled`
    found.push({ key: `webhook ${id}`, tone: 'waiting', what, why: reason ?? 'It hears of nothing.', link })
  }
  return found
}

function runs(count: number, isCapped: boolean): string {
  return count === 1 && !isCapped ? '1 run is' : `${formatCount(count, isCapped)} runs are`
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url
}
