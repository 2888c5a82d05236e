import { expect, it } from 'vitest'
import { createTidyCosts } from './tidy-costs.ts'

function setUp({ closed = [0], lookMs = 0 }: { closed?: number[]; lookMs?: number } = {}) {
  const clock = { ms: 1_000 }
  const calls: string[] = []
  const costs = {
    async closeEnded() {
      calls.push('close')
      clock.ms += lookMs
      return closed.shift() ?? 0
    },
    async roll() {
      calls.push('roll')
      return 0
    },
  }
  const duty = createTidyCosts(() => clock.ms)
  return { clock, calls, look: () => duty({ store: { costs } }) }
}

it('closes before it rolls, so that what has just ended is in its day', async () => {
  const { calls, look } = setUp()
  expect(await look()).toBe(false)
  expect(calls).toEqual(['close', 'roll'])
})

it('comes again at once when there may be more', async () => {
  const { calls, look } = setUp({ closed: [2_000, 3], lookMs: 50 })
  expect([await look(), await look()]).toEqual([true, false])
  expect(calls).toHaveLength(4)
})

it('rests after a look that took long', async () => {
  const { clock, calls, look } = setUp({ lookMs: 100 })
  await look()
  clock.ms += 1_000
  await look()
  expect(calls).toHaveLength(2)
  clock.ms += 1_000
  await look()
  expect(calls).toHaveLength(4)
})

it('does nothing where the store knows no costs', async () => {
  expect(await createTidyCosts()({ store: {} })).toBe(false)
})
