import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { recordLog } from '../../test/conformance/wakeup.ts'
import { createLink } from './link.ts'

/** A link whose openings the test ends one by one. */
function controlled() {
  const openings: { up: () => void; refuse: () => void; lose: () => void }[] = []
  const closed: number[] = []
  const log = recordLog()
  const ups: number[] = []
  const link = createLink({
    name: 'test',
    log,
    random: () => 0,
    steadyMs: 1_000,
    onUp: (connection: { number: number; close(): Promise<void> }) => void ups.push(connection.number),
    open: (onLost) =>
      new Promise((resolve, reject) => {
        const number = openings.length
        openings.push({
          up: () => resolve({ number, close: async () => void closed.push(number) }),
          refuse: () => reject(new Error('refused')),
          lose: () => onLost(new Error('lost')),
        })
      }),
  })
  return { link, openings, closed, log, ups, opening: (index: number) => openings[index]! }
}

const turn = () => vi.advanceTimersByTimeAsync(0)

describe('a link', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('has a connection once the opening has ended', async () => {
    const { link, opening } = controlled()
    const started = link.start()
    expect(link.current()).toBeNull()
    opening(0).up()
    await started
    expect(link.current()).toMatchObject({ number: 0 })
  })

  it('tries again for ever, at most five seconds apart', async () => {
    const { link, openings, log } = controlled()
    void link.start()
    for (let tries = 0; tries < 30; tries++) {
      openings.at(-1)?.refuse()
      await vi.advanceTimersByTimeAsync(5_000)
      expect(openings).toHaveLength(tries + 2)
    }
    expect(log.warnings).toHaveLength(1)
    openings.at(-1)?.up()
    await turn()
    expect(link.current()).not.toBeNull()
  })

  it('opens the next connection when one is lost, closes the broken one, and reports each that is up', async () => {
    const { link, opening, closed, ups } = controlled()
    void link.start()
    opening(0).up()
    await turn()
    opening(0).lose()
    expect(link.current()).toBeNull()
    await vi.advanceTimersByTimeAsync(50)
    opening(1).up()
    await turn()
    expect(closed).toEqual([0])
    expect(ups).toEqual([0, 1])
  })

  it('is not disturbed by a late report about a connection it has replaced', async () => {
    const { link, opening } = controlled()
    void link.start()
    opening(0).up()
    await turn()
    opening(0).lose()
    await vi.advanceTimersByTimeAsync(50)
    opening(1).up()
    await turn()
    opening(0).lose()
    expect(link.current()).toMatchObject({ number: 1 })
  })

  it('counts a connection that breaks at once to the same outage, with a longer wait', async () => {
    const { link, opening, openings, log } = controlled()
    void link.start()
    opening(0).refuse()
    await vi.advanceTimersByTimeAsync(50)
    opening(1).up()
    await turn()
    opening(1).lose()
    await vi.advanceTimersByTimeAsync(99)
    expect(openings).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(1)
    expect(openings).toHaveLength(3)
    expect(log.warnings).toHaveLength(1)
    expect(log.notes).toHaveLength(0)
  })

  it('says that it is back when the connection has lasted, and starts over with short waits', async () => {
    const { link, opening, openings, log } = controlled()
    void link.start()
    opening(0).refuse()
    await vi.advanceTimersByTimeAsync(50)
    opening(1).up()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(log.notes).toEqual(['wake-up transport is back'])
    opening(1).lose()
    await vi.advanceTimersByTimeAsync(50)
    expect(openings).toHaveLength(3)
    expect(log.warnings).toHaveLength(2)
  })

  it('gives up a connection that was lost while it was being opened', async () => {
    const { link, opening, closed } = controlled()
    void link.start()
    opening(0).lose()
    opening(0).up()
    await turn()
    expect(link.current()).toBeNull()
    expect(closed).toEqual([0])
  })

  it('closes a connection that arrives after the link was closed, and tries no more', async () => {
    const { link, opening, openings, closed } = controlled()
    void link.start()
    await link.close()
    opening(0).up()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(closed).toEqual([0])
    expect(openings).toHaveLength(1)
  })
})
