import { describe, expect, it } from 'vitest'
import { AHEAD_MAX, type BlockFacts, type WaitingFacts, whyBlocked, whyItWaits, whyNewRunWaits } from './waiting.ts'

const AT = new Date('2030-01-31T08:00:00Z')
const RUN = { model: 'forecast', modelVersion: '2', queue: 'gpu', attemptCount: 0, availableAt: AT }
const FACTS: WaitingFacts = {
  later: false,
  paused: false,
  serving: 2,
  offering: 2,
  offeredVersions: ['2'],
  fullOfModel: 0,
  fullOfQueue: 0,
  full: 0,
  limit: 0,
  held: 0,
  heldBy: [],
  ahead: 0,
}
const why = (facts: Partial<WaitingFacts>, run = RUN) => whyItWaits(run, { ...FACTS, ...facts })

describe('why a run waits', () => {
  it('it was asked to start later, or its last attempt failed', () => {
    const scheduled = { reason: 'scheduled', detail: 'asked to start after 2030-01-31T08:00:00.000Z', until: AT }
    expect(why({ later: true })).toMatchObject(scheduled)
    const backoff = why({ later: true }, { ...RUN, attemptCount: 2 })
    expect(backoff).toMatchObject({ reason: 'backoff', until: AT, ahead: null })
    expect(backoff.detail).toBe('attempt 2 failed; the next one starts after 2030-01-31T08:00:00.000Z')
  })

  it('its queue is paused, whatever else holds', () => {
    const paused = why({ paused: true, offering: 0, serving: 0, ahead: 3 })
    expect(paused).toMatchObject({ reason: 'queue-paused', detail: 'the queue gpu is paused', ahead: null })
  })

  it.each([
    ['queue', { serving: 0, offeredVersions: [] }, 'no live worker serves the queue gpu'],
    [
      'model',
      { serving: 1, offeredVersions: [] },
      '1 live worker serves the queue gpu, but none offers the model forecast',
    ],
    [
      'version',
      { offeredVersions: ['1', '3'] },
      '2 live workers serve the queue gpu, but none offers the model forecast in version 2; offered: versions 1, 3',
    ],
  ] as const)('no worker, for want of its %s', (missing, facts, detail) => {
    const waiting = why({ ...facts, offeredVersions: [...facts.offeredVersions], offering: 0 })
    expect(waiting).toMatchObject({ reason: 'no-worker', missing, detail, offeredVersions: facts.offeredVersions })
  })

  it.each([
    ['model', { fullOfModel: 2 }, '3 of 3 runs that the model forecast may have at once are running'],
    ['queue', { fullOfQueue: 2 }, '3 of 3 runs that the queue gpu may have at once are running'],
    [
      'model',
      { fullOfModel: 1, fullOfQueue: 1 },
      '3 of 3 runs that the model forecast or the queue gpu may have at once are running',
    ],
  ] as const)('a limit of the %s is used up at every worker', (limitOf, full, detail) => {
    const waiting = why({ ...full, full: 2, limit: 3, held: 3, heldBy: ['a', 'b'], ahead: 5 })
    expect(waiting).toMatchObject({ reason: 'concurrency', limitOf, detail, limit: 3, held: 3, heldBy: ['a', 'b'] })
    expect(waiting.ahead).toBeNull()
  })

  it('a worker that is not at its limit makes it queued', () => {
    expect(why({ fullOfModel: 1, full: 1, limit: 1, held: 1 })).toMatchObject({ reason: 'queued', limit: null })
  })

  it.each([
    [0, 'is next: waits for a free slot of a worker'],
    [1, '1 run is ahead of it in the queue'],
    [7, '7 runs are ahead of it in the queue'],
    [AHEAD_MAX, '1000 runs are ahead of it in the queue'],
  ])('%i runs are ahead of it', (ahead, detail) => {
    expect(why({ ahead })).toMatchObject({ reason: 'queued', ahead, aheadCapped: false, detail })
  })

  it('counting those ahead ends at a limit, and says so', () => {
    const waiting = why({ ahead: AHEAD_MAX + 1 })
    expect(waiting).toMatchObject({ ahead: AHEAD_MAX, aheadCapped: true })
    expect(waiting.detail).toBe('more than 1000 runs are ahead of it in the queue')
  })

  it('of a new run only its time is known', () => {
    expect(whyNewRunWaits({ ...RUN, createdAt: AT })).toMatchObject({ reason: 'queued', ahead: null })
    const earlier = new Date(AT.getTime() - 1)
    expect(whyNewRunWaits({ ...RUN, createdAt: earlier })).toMatchObject({ reason: 'scheduled', until: AT })
  })
})

describe('why a blocked run waits', () => {
  const FACTS: BlockFacts = {
    reason: 'approval',
    rule: null,
    since: AT,
    startAt: null,
    isLater: false,
    key: null,
    limit: null,
    held: null,
    heldBy: null,
    ahead: null,
  }
  const RULE = { owner: 'ann', model: null, together: false, limit: 'runs_per_day', maximum: 10, used: 10 }

  it.each([
    [RULE, 'over runs_per_day 10 of ann (10 used)'],
    [{ ...RULE, model: 'train' }, 'over runs_per_day 10 of ann within the model train (10 used)'],
    [{ ...RULE, owner: '*' }, 'over runs_per_day 10 of each owner (10 used)'],
    [{ ...RULE, owner: '*', together: true }, 'over runs_per_day 10 of everyone together (10 used)'],
  ])('an approval names the rule %j', (rule, text) => {
    const detail = `waits for the approval of an operator: ${text}`
    expect(whyBlocked({ ...FACTS, rule })).toMatchObject({ reason: 'approval', detail, rule, since: AT, until: null })
  })

  it('an approval tells the time that holds after it', () => {
    expect(whyBlocked({ ...FACTS, startAt: AT, isLater: true }).until).toBe(AT)
  })

  it('a key names its holders and the place in its line', () => {
    const facts = { ...FACTS, reason: 'concurrency' as const, key: 'k', limit: 2, held: 2, heldBy: ['a'], ahead: 3 }
    expect(whyBlocked(facts)).toMatchObject({
      reason: 'concurrency',
      detail: '2 of 2 runs that the concurrency key k may have at once are active',
      limitOf: 'key',
      heldBy: ['a'],
      ahead: 3,
      aheadCapped: false,
    })
    expect(whyBlocked({ ...facts, ahead: AHEAD_MAX + 1 })).toMatchObject({ ahead: AHEAD_MAX, aheadCapped: true })
  })

  it('a run whose time has not come is scheduled, whatever its key', () => {
    const facts = { ...FACTS, reason: 'concurrency' as const, key: 'k', startAt: AT, isLater: true }
    expect(whyBlocked(facts)).toMatchObject({ reason: 'scheduled', until: AT, key: 'k', limitOf: null })
  })
})
