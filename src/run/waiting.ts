/**
 * Why a waiting run has not started: from what the store knows to one reason, for programs and in words.
 *
 * Of several reasons that hold at once the first one of this order is told: the run may not start yet, its queue is paused, no live
 * worker takes it, a limit is used up, others are ahead of it.
 */

export type WaitingReason = 'scheduled' | 'backoff' | 'queue-paused' | 'no-worker' | 'concurrency' | 'queued'

export type Waiting = {
  reason: WaitingReason
  detail: string
  /** Of `scheduled` and `backoff`: the run does not start before. */
  until: Date | null
  /** Of `queued`: how many runs start before this one; the true number is higher when `aheadCapped`. */
  ahead: number | null
  aheadCapped: boolean | null
  /** Of `concurrency`: how many runs may execute at once, of what, and how many do. */
  limit: number | null
  limitOf: 'model' | 'queue' | null
  held: number | null
  /** Of `concurrency`: some of the runs that hold the limit, those that the asker may see. */
  heldBy: string[] | null
  /** Of `no-worker`: no live worker serves the queue, or none of them offers the model, or not in this version. */
  missing: 'queue' | 'model' | 'version' | null
  /** Of `no-worker`: the versions of the model that live workers of the queue offer. */
  offeredVersions: string[] | null
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
}

export function whyItWaits(run: WaitingRun, facts: WaitingFacts): Waiting {
  if (facts.later) return notYet(run)
  if (facts.paused) return { ...NOTHING, reason: 'queue-paused', detail: `the queue ${run.queue} is paused` }
  if (facts.offering === 0) return noWorker(run, facts)
  if (facts.full === facts.offering) return limitUsedUp(run, facts)
  return queued(facts.ahead)
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
