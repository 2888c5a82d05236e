/** Attempts whose work is over in the turn it began. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeAttempt } from '../../test/support/make-attempt.ts'
import type { AttemptReports } from '../executor/executor.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('work that is over in the turn it began', () => {
  it('gives its settlement at once and leaves it to others to send', async () => {
    const { executor, attempt, lease, settle, messages } = makeAttempt()
    executor.atOnce = () => ({ status: 'succeeded', resultText: '1' })
    const settlement = attempt.begin()!
    expect(settlement).toMatchObject({ runId: lease.runId, kind: 'succeed', result: { text: '1' } })
    attempt.announce(settlement, { status: 'SUCCEEDED', repeated: false })
    expect(settle).not.toHaveBeenCalled()
    expect(messages()).toEqual(['run succeeded'])
  })

  it('writes what it printed and large results first, and is settled after that', async () => {
    const outcomes = [
      (reports: AttemptReports) => reports.output?.('stdout', 'hello'),
      (reports: AttemptReports) => reports.log('info', 'hello'),
    ]
    for (const report of outcomes) {
      const { executor, attempt, settle } = makeAttempt()
      executor.atOnce = (_, reports) => {
        report(reports)
        return { status: 'succeeded', resultText: '1' }
      }
      expect(attempt.begin()).toBeNull()
      await attempt.finish()
      expect(settle).toHaveBeenCalledOnce()
    }
    const { executor, attempt, settle } = makeAttempt()
    executor.atOnce = () => ({ status: 'succeeded', resultText: `"${'x'.repeat(500)}"` })
    expect(attempt.begin()).toBeNull()
    await attempt.finish()
    expect(settle.mock.calls[0]![0].result).toMatchObject({ text: null })
  })

  it('stays settled when it cannot be announced, and says so', () => {
    const { executor, attempt, metrics, messages } = makeAttempt()
    executor.atOnce = () => ({ status: 'succeeded', resultText: '1' })
    const settlement = attempt.begin()!
    vi.spyOn(metrics.runsSucceeded, 'inc').mockImplementationOnce(() => {
      throw new Error('no such series')
    })
    expect(() => attempt.announce(settlement, { status: 'SUCCEEDED', repeated: false })).not.toThrow()
    expect(messages()).toEqual(['attempt settled, but its end could not be announced'])
  })

  it('is settled alone when it could not be settled with others', async () => {
    const { executor, attempt, settle, messages } = makeAttempt()
    executor.atOnce = () => ({ status: 'succeeded', resultText: '1' })
    const done = attempt.settle(attempt.begin()!, new Error('connection lost'))
    await vi.advanceTimersByTimeAsync(1_000)
    await done
    expect(settle).toHaveBeenCalledOnce()
    expect(messages()).toEqual(['could not settle; trying again', 'run succeeded'])
  })
})
