import { expect, test, vi } from 'vitest'
import { recordingLog } from '../../test/support/recording-log.ts'
import type { Rolled, Stats } from '../store/ports/stats.ts'
import { createStatsRoller } from './roll-stats.ts'

function setUp(answers: Rolled[]) {
  let nowMs = 0
  const roll = vi.fn(async (_options: { minAgeMs: number }): Promise<Rolled> => {
    nowMs += 100
    return answers.shift() ?? { outcome: 'rolled', events: 0, more: false }
  })
  const forgetOld = vi.fn(async () => 0)
  const { log, lines } = recordingLog()
  const store = { stats: { roll, forgetOld } as unknown as Stats }
  const tick = createStatsRoller({ workerId: 'w', store, log, nowMs: () => nowMs })
  const passes = (ms: number) => {
    nowMs += ms
  }
  return { tick, roll, forgetOld, lines, passes }
}

const more: Rolled = { outcome: 'rolled', events: 5_000, more: true }

test('goes on while there are more events, for a tenth of the time at most', async () => {
  const { tick, roll } = setUp([more, more])
  expect(await tick()).toBe('wait')
  expect(roll.mock.calls.map(([{ minAgeMs }]) => minAgeMs)).toEqual([4_000, 0, 0])
  const rush = setUp(Array.from({ length: 50 }, () => more))
  await rush.tick()
  expect(rush.roll).toHaveBeenCalledTimes(5)
})

test('leaves it when another worker is at it', async () => {
  const { tick, roll } = setUp([{ outcome: 'left' }])
  await tick()
  expect(roll).toHaveBeenCalledTimes(1)
})

test('old minutes are forgotten now and then', async () => {
  const { tick, forgetOld, passes } = setUp([])
  await tick()
  await tick()
  expect(forgetOld).toHaveBeenCalledTimes(1)
  passes(600_000)
  await tick()
  expect(forgetOld).toHaveBeenCalledTimes(2)
})

test('a database that was moved is told', async () => {
  const { tick, lines } = setUp([{ outcome: 'restarted' }])
  await tick()
  expect(lines.map(({ msg }) => msg)).toEqual(['statistics go on from here: the database was moved to another server'])
})
