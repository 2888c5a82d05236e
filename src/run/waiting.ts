/**
 * Why a waiting run has not started: from what the store knows to one reason, for programs and in words.
 *
 * Of several reasons that hold at once the first one of this order is told: the run may not start yet, its queue is paused, no live
 * worker takes it, a limit is used up, others are ahead of it. A blocked run is told of by its block alone.
 */

import type { BlockReason } from './blocked.ts'

export type WaitingReason =
  | 'approval'
  | 'scheduled'
  | 'backoff'
  | 'queue-paused'
  | 'no-worker'
  | 'concurrency'
  | 'queued'

export type Waiting = {
  reason: WaitingReason
  detail: string
  /** Of `scheduled` and `backoff`: the run does not start before. */
  until: Date | null
  /** Of `queued`: how many runs start before this one; the true number is higher when `aheadCapped`. */
  ahead: number | null
  aheadCapped: boolean | null
  /** Of `concurrency`: how many runs may execute at once, of what, and how many do; of a key: may be active, and how many are. */
  limit: number | null
  limitOf: 'model' | 'queue' | 'key' | null
  held: number | null
  /** Of `concurrency`: some of the runs that hold the limit, those that the asker may see. */
  heldBy: string[] | null
  /** Of `no-worker`: no live worker serves the queue, or none of them offers the model, or not in this version. */
  missing: 'queue' | 'model' | 'version' | null
  /** Of `no-worker`: the versions of the model that live workers of the queue offer. */
  offeredVersions: string[] | null
  /** Of a blocked run: since when it has been waiting for this. */
  since: Date | null
  /** Of `approval`: the rule that asks for it. */
  rule: ApprovalRule | null
  /** Of `concurrency` with a limit of a key: which key. */
  key: string | null
}

/** The limit that a run is over, and that an operator may let it pass. */
export type ApprovalRule = {
  owner: string
  /** Null for all models. */
  model: string | null
  together: boolean
  limit: string
  maximum: number
  used: number
}

/** The waiting run, as far as its reason needs it. */
export type WaitingRun = {
  model: string
  modelVersion: string
  queue: string
  attemptCount: number
  availableAt: Date
}

/** What was found in one look at the database. Workers are live ones. */
export type WaitingFacts = {
  /** `availableAt` is still to come. */
  later: boolean
  paused: boolean
  /** Workers that serve the queue; those of them that offer the model in this version. */
  serving: number
  offering: number
  offeredVersions: string[]
  /** How many of the offering workers are at their limit of the model, of the queue, of either. */
  fullOfModel: number
  fullOfQueue: number
  full: number
  /** Over the workers at a limit: what they allow and what they hold. */
  limit: number
  held: number
  heldBy: string[]
  ahead: number
}

/** Counting ends here. */
export const AHEAD_MAX = 1_000

const NOTHING: Omit<Waiting, 'reason' | 'detail'> = {
  until: null,
  ahead: null,
  aheadCapped: null,
  limit: null,
  limitOf: null,
  held: null,
  heldBy: null,
  missing: null,
  offeredVersions: null,
  since: null,
  rule: null,
  key: null,
}

export function whyItWaits(run: WaitingRun, facts: WaitingFacts): Waiting {
  if (facts.later) return notYet(run)
  if (facts.paused) return { ...NOTHING, reason: 'queue-paused', detail: `the queue ${run.queue} is paused` }
  if (facts.offering === 0) return noWorker(run, facts)
  if (facts.full === facts.offering) return limitUsedUp(run, facts)
  return queued(facts.ahead)
}

/** What was found of a blocked run. A key and its numbers are those of the concurrency key it waits for. */
export type BlockFacts = {
  reason: BlockReason
  rule: ApprovalRule | null
  since: Date
  startAt: Date | null
  /** `startAt` is still to come. */
  isLater: boolean
  key: string | null
  limit: number | null
  held: number | null
  heldBy: string[] | null
  /** Runs that are before it in the line of the key. */
  ahead: number | null
}

export function whyBlocked(facts: BlockFacts): Waiting {
  const { since, rule, key, limit, held, heldBy } = facts
  if (facts.reason === 'approval') {
    const until = facts.isLater ? facts.startAt : null
    return { ...NOTHING, reason: 'approval', detail: approvalText(rule), since, rule, until }
  }
  if (facts.isLater) {
    const until = facts.startAt!
    return { ...NOTHING, reason: 'scheduled', detail: `asked to start after ${until.toISOString()}`, until, since, key }
  }
  const aheadCapped = facts.ahead === null ? null : facts.ahead > AHEAD_MAX
  const ahead = facts.ahead === null ? null : Math.min(facts.ahead, AHEAD_MAX)
  const detail = `${held} of ${limit} runs that the concurrency key ${key} may have at once are active`
  return {
    ...NOTHING,
    reason: 'concurrency',
    detail,
    since,
    key,
    limit,
    limitOf: 'key',
    held,
    heldBy,
    ahead,
    aheadCapped,
  }
}

function approvalText(rule: ApprovalRule | null): string {
  if (!rule) return 'waits for the approval of an operator'
  const { owner, model, together, limit, maximum, used } = rule
  const whose = owner === '*' ? (together ? 'everyone together' : 'each owner') : owner
  const of = model === null ? whose : `${whose} within the model ${model}`
  return `waits for the approval of an operator: over ${limit} ${maximum} of ${of} (${used} used)`
}

/** What can be said of a run just accepted, without asking anybody. */
export function whyNewRunWaits(run: WaitingRun & { createdAt: Date }): Waiting {
  if (run.availableAt > run.createdAt) return notYet(run)
  return { ...NOTHING, reason: 'queued', detail: 'was accepted just now' }
}

function notYet({ attemptCount, availableAt: until }: WaitingRun): Waiting {
  if (attemptCount === 0) {
    return { ...NOTHING, reason: 'scheduled', detail: `asked to start after ${until.toISOString()}`, until }
  }
  const detail = `attempt ${attemptCount} failed; the next one starts after ${until.toISOString()}`
  return { ...NOTHING, reason: 'backoff', detail, until }
}

function noWorker({ queue, model, modelVersion }: WaitingRun, facts: WaitingFacts): Waiting {
  const { serving, offeredVersions } = facts
  const because = (missing: Waiting['missing'], detail: string): Waiting => ({
    ...NOTHING,
    reason: 'no-worker',
    detail,
    missing,
    offeredVersions,
  })
  if (serving === 0) return because('queue', `no live worker serves the queue ${queue}`)
  const who = `${workers(serving)} the queue ${queue}, but none offers`
  if (offeredVersions.length === 0) return because('model', `${who} the model ${model}`)
  const others = `version${offeredVersions.length > 1 ? 's' : ''} ${offeredVersions.join(', ')}`
  return because('version', `${who} the model ${model} in version ${modelVersion}; offered: ${others}`)
}

function limitUsedUp({ queue, model }: WaitingRun, facts: WaitingFacts): Waiting {
  const { offering, fullOfModel, fullOfQueue, limit, held, heldBy } = facts
  const limitOf = fullOfModel === offering || fullOfQueue < offering ? 'model' : 'queue'
  const mixed = fullOfModel < offering && fullOfQueue < offering
  const of = limitOf === 'queue' ? `the queue ${queue}` : `the model ${model}${mixed ? ` or the queue ${queue}` : ''}`
  const detail = `${held} of ${limit} runs that ${of} may have at once are running`
  return { ...NOTHING, reason: 'concurrency', detail, limit, limitOf, held, heldBy }
}

function queued(counted: number): Waiting {
  const aheadCapped = counted > AHEAD_MAX
  const ahead = Math.min(counted, AHEAD_MAX)
  const what = { ...NOTHING, reason: 'queued', ahead, aheadCapped } as const
  if (ahead === 0) return { ...what, detail: 'is next: waits for a free slot of a worker' }
  const runs = ahead === 1 ? '1 run is' : `${aheadCapped ? 'more than ' : ''}${ahead} runs are`
  return { ...what, detail: `${runs} ahead of it in the queue` }
}

function workers(count: number): string {
  return count === 1 ? '1 live worker serves' : `${count} live workers serve`
}
