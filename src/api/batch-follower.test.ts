/** One count serves every listener of a batch, and nobody counts when nobody listens. */

import { expect, onTestFinished, test } from 'vitest'
import { recordingLog } from '../../test/support/recording-log.ts'
import { until } from '../../test/support/until.ts'
import type { BatchCounts } from '../store/ports/batches.ts'
import { createBatchFollower } from './batch-follower.ts'

const NONE: BatchCounts = { total: 0, waiting: 0, running: 0, done: 0, failed: 0, cancelled: 0, duplicate: 0 }
const BATCH = { id: 'b', owner: 'ana' }

function followed(options: { failing?: (no: number) => boolean; pollMs?: number } = {}) {
  let counted = 0
  let counts = NONE
  const count = async () => {
    counted += 1
    if (options.failing?.(counted)) throw new Error('the database is away')
    return { ...counts }
  }
  const { log, lines } = recordingLog()
  const follower = createBatchFollower({ batches: { count }, log, pollMs: options.pollMs ?? 5 })
  onTestFinished(() => follower.close())
  return {
    follower,
    lines,
    counted: () => counted,
    set: (changes: Partial<BatchCounts>) => {
      counts = { ...NONE, ...changes }
    },
  }
}

test('a thousand listeners cost one count, and each hears of each change once', async () => {
  const { follower, counted, set } = followed({ pollMs: 1_000_000 })
  await Promise.all(Array.from({ length: 1_000 }, () => follower.listen(BATCH, () => {})))
  expect(counted()).toBe(1)
  const quick = followed()
  const heard: number[] = []
  await Promise.all(
    Array.from({ length: 100 }, () => quick.follower.listen(BATCH, ({ total }) => void heard.push(total))),
  )
  quick.set({ total: 1 })
  await until(() => heard.length > 0, { what: 'the change was told' })
  const before = quick.counted()
  await until(() => quick.counted() > before + 2, { what: 'it was counted again' })
  expect(heard).toEqual(Array(100).fill(1))
  set({})
})

test('whoever joins gets the latest counts', async () => {
  const { follower, counted, set } = followed()
  const heard: number[] = []
  await follower.listen(BATCH, ({ total }) => void heard.push(total))
  set({ total: 7 })
  await until(() => heard.length > 0, { what: 'the change was told' })
  const before = counted()
  const { counts } = await follower.listen(BATCH, () => {})
  expect(counts.total).toBe(7)
  expect(counted()).toBe(before)
})

test('without listeners nothing is counted', async () => {
  const { follower, counted } = followed()
  const { close } = await follower.listen(BATCH, () => {})
  await until(() => counted() > 2, { what: 'it is being followed' })
  close()
  const other = followed()
  await other.follower.listen(BATCH, () => {})
  const before = counted()
  await until(() => other.counted() > 4, { what: 'another follower went round some times' })
  expect(counted()).toBeLessThanOrEqual(before + 1)
})

test('a failing first count is told, and the next listener begins anew', async () => {
  const { follower } = followed({ failing: (no) => no === 1 })
  await expect(follower.listen(BATCH, () => {})).rejects.toThrow('away')
  expect((await follower.listen(BATCH, () => {})).counts).toEqual(NONE)
})

test('a count that fails later is repeated, and the log says so once', async () => {
  const { follower, lines, set, counted } = followed({ failing: (no) => no > 1 && no < 4 })
  const heard: number[] = []
  await follower.listen(BATCH, ({ total }) => void heard.push(total))
  set({ total: 2 })
  await until(() => heard.length > 0, { what: 'the change was told' })
  expect(heard).toEqual([2])
  expect(counted()).toBeGreaterThan(3)
  expect(lines.filter(({ msg }) => msg === 'a batch could not be counted')).toHaveLength(1)
})
