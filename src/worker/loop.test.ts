/** The loop, on a clock that the test moves by hand. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Loop, type LoopOptions } from './loop.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Jitter is off: a wait is exactly its interval. */
function loopOf(tick: LoopOptions['tick'], more: Partial<LoopOptions> = {}) {
  const errors: { error: unknown; failures: number }[] = []
  const onError: LoopOptions['onError'] = (error, failures) => void errors.push({ error, failures })
  return { loop: new Loop({ everyMs: 1_000, tick, onError, random: () => 0.5, ...more }), errors }
}

const wait = async () => 'wait' as const

describe('a loop', () => {
  it('ticks at once, and then once per interval', async () => {
    const tick = vi.fn(wait)
    const { loop } = loopOf(tick)
    loop.start()
    await vi.advanceTimersByTimeAsync(0)
    expect(tick).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(999)
    expect(tick).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(tick).toHaveBeenCalledTimes(2)
    await loop.stop()
  })

  it('spreads its waits between three and five quarters of the interval', async () => {
    for (const [random, waitMs] of [
      [0, 750],
      [1, 1_250],
    ] as const) {
      const tick = vi.fn(wait)
      const { loop } = loopOf(tick, { random: () => random })
      loop.start()
      await vi.advanceTimersByTimeAsync(waitMs - 1)
      expect(tick).toHaveBeenCalledTimes(1)
      await vi.advanceTimersByTimeAsync(1)
      expect(tick).toHaveBeenCalledTimes(2)
      await loop.stop()
    }
  })

  it('does not wait while ticks say that there may be more', async () => {
    const answers = ['again', 'again', 'wait'] as const
    const tick = vi.fn(async () => answers[tick.mock.calls.length - 1] ?? 'wait')
    const { loop } = loopOf(tick)
    loop.start()
    await vi.advanceTimersByTimeAsync(0)
    expect(tick).toHaveBeenCalledTimes(3)
    await loop.stop()
  })

  it('does not start a second time', async () => {
    const tick = vi.fn(wait)
    const { loop } = loopOf(tick)
    loop.start()
    loop.start()
    await vi.advanceTimersByTimeAsync(0)
    expect(tick).toHaveBeenCalledTimes(1)
    await loop.stop()
  })
})

describe('a wake', () => {
  it('ends a wait', async () => {
    const tick = vi.fn(wait)
    const { loop } = loopOf(tick)
    loop.start()
    await vi.advanceTimersByTimeAsync(10)
    loop.wake()
    await vi.advanceTimersByTimeAsync(0)
    expect(tick).toHaveBeenCalledTimes(2)
    await loop.stop()
  })

  it('during a tick is one more tick, however many there were', async () => {
    const gate = Promise.withResolvers<'wait'>()
    const tick = vi.fn(() => (tick.mock.calls.length === 1 ? gate.promise : wait()))
    const { loop } = loopOf(tick)
    loop.start()
    loop.wake()
    loop.wake()
    gate.resolve('wait')
    await vi.advanceTimersByTimeAsync(0)
    expect(tick).toHaveBeenCalledTimes(2)
    await loop.stop()
  })

  it('before the start changes nothing', async () => {
    const tick = vi.fn(wait)
    const { loop } = loopOf(tick)
    loop.wake()
    loop.start()
    await vi.advanceTimersByTimeAsync(0)
    expect(tick).toHaveBeenCalledTimes(1)
    await loop.stop()
  })
})

describe('a tick that throws', () => {
  it('is reported, counted, and followed by the next one after a pause that grows', async () => {
    const tick = vi.fn(async (): Promise<'wait'> => {
      throw new Error(`failure ${tick.mock.calls.length}`)
    })
    const { loop, errors } = loopOf(tick)
    loop.start()
    for (const pauseMs of [100, 200, 400]) {
      const before = tick.mock.calls.length
      await vi.advanceTimersByTimeAsync(pauseMs - 1)
      expect(tick).toHaveBeenCalledTimes(Math.max(1, before))
      await vi.advanceTimersByTimeAsync(1)
    }
    expect(tick).toHaveBeenCalledTimes(4)
    expect(errors.map(({ error, failures }) => [(error as Error).message, failures])).toEqual([
      ['failure 1', 1],
      ['failure 2', 2],
      ['failure 3', 3],
      ['failure 4', 4],
    ])
    await loop.stop()
  })

  it('never pauses the loop for longer than a bound', async () => {
    const tick = vi.fn(async (): Promise<'wait'> => Promise.reject(new Error('always')))
    const { loop } = loopOf(tick)
    loop.start()
    await vi.advanceTimersByTimeAsync(3_600_000)
    const before = tick.mock.calls.length
    await vi.advanceTimersByTimeAsync(60_000)
    expect(tick.mock.calls.length - before).toBe(12)
    await loop.stop()
  })

  it('is forgotten after a good tick', async () => {
    const tick = vi.fn(async (): Promise<'wait'> => {
      if (tick.mock.calls.length !== 2) throw new Error('odd')
      return 'wait'
    })
    const { loop, errors } = loopOf(tick)
    loop.start()
    await vi.advanceTimersByTimeAsync(1_100)
    expect(errors.map(({ failures }) => failures)).toEqual([1, 1])
    await loop.stop()
  })
})

describe('stopping', () => {
  it('waits for the tick under way, and no other follows', async () => {
    const gate = Promise.withResolvers<'again'>()
    const tick = vi.fn(() => gate.promise)
    const { loop } = loopOf(tick)
    loop.start()
    let stopped = false
    const stopping = loop.stop().then(() => {
      stopped = true
    })
    await vi.advanceTimersByTimeAsync(10_000)
    expect(stopped).toBe(false)
    gate.resolve('again')
    await stopping
    expect(tick).toHaveBeenCalledTimes(1)
  })

  it('ends a wait at once', async () => {
    const { loop } = loopOf(wait)
    loop.start()
    await vi.advanceTimersByTimeAsync(1)
    await loop.stop()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('ends the pause after a failure at once', async () => {
    const { loop } = loopOf(async () => Promise.reject(new Error('broken')))
    loop.start()
    await vi.advanceTimersByTimeAsync(1)
    await loop.stop()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('before the start means that it never ticks', async () => {
    const tick = vi.fn(wait)
    const { loop } = loopOf(tick)
    await loop.stop()
    loop.start()
    await vi.advanceTimersByTimeAsync(5_000)
    expect(tick).not.toHaveBeenCalled()
  })

  it('twice is the same as once', async () => {
    const { loop } = loopOf(wait)
    loop.start()
    await Promise.all([loop.stop(), loop.stop()])
    await loop.stop()
    expect(vi.getTimerCount()).toBe(0)
  })
})
