/** The promises of group commit, on flushes the test ends by hand. */

import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { GroupCommit, type GroupCommitOptions } from './group-commit.ts'

type Flush = { items: number[]; end(outputs?: (string | Promise<string>)[]): void; fail(error: Error): void }

function setUp(options: Partial<GroupCommitOptions<number, string>> = {}) {
  const flushes: Flush[] = []
  const group = new GroupCommit<number, string>({
    batchMax: 100,
    lanes: 1,
    flush: (items) =>
      new Promise((resolve, reject) => {
        const end = (outputs: (string | Promise<string>)[] = items.map((item) => `did ${item}`)) => resolve(outputs)
        flushes.push({ items, end, fail: reject })
      }),
    ...options,
  })
  return { flushes, group, batches: () => flushes.map(({ items }) => items) }
}

describe('group commit', () => {
  it('when idle a call goes out in the same turn of the event loop, with no timer in between', async () => {
    const { group, batches } = setUp()
    void group.add(1)
    expect(batches()).toEqual([])
    await turn()
    expect(batches()).toEqual([[1]])
  })

  it('calls of one turn ride together', async () => {
    const { group, batches } = setUp()
    void group.add(1)
    void Promise.resolve().then(() => group.add(2))
    process.nextTick(() => void group.add(3))
    await turn()
    expect(batches().map((batch) => batch.toSorted())).toEqual([[1, 2, 3]])
  })

  it('calls that arrive during a flush share the next one', async () => {
    const { group, flushes, batches } = setUp()
    void group.add(1)
    await turn()
    void group.add(2)
    await turn()
    void group.add(3)
    await turn()
    expect(batches()).toEqual([[1]])
    flushes[0]!.end()
    await turn()
    await turn()
    expect(batches()).toEqual([[1], [2, 3]])
  })

  it('each call gets the answer of its own item', async () => {
    const { group, flushes } = setUp()
    const answers = Promise.all([7, 8, 9].map((item) => group.add(item)))
    await turn()
    flushes[0]!.end()
    expect(await answers).toEqual(['did 7', 'did 8', 'did 9'])
  })

  it('a batch never holds more than batchMax; the rest follows in order', async () => {
    const { group, flushes, batches } = setUp({ batchMax: 2 })
    for (const item of [1, 2, 3, 4, 5]) void group.add(item)
    for (let no = 0; no < 3; no += 1) {
      await turn()
      await turn()
      flushes[no]!.end()
    }
    expect(batches()).toEqual([[1, 2], [3, 4], [5]])
  })

  it('items handed over together stay together and get their answers in order', async () => {
    const { group, flushes, batches } = setUp({ batchMax: 3 })
    const answers = [group.add(1), group.addAll([2, 3]), group.addAll([4, 5])]
    await turn()
    flushes[0]!.end()
    await turn()
    await turn()
    flushes[1]!.end()
    expect(await Promise.all(answers)).toEqual(['did 1', ['did 2', 'did 3'], ['did 4', 'did 5']])
    expect(batches()).toEqual([
      [1, 2, 3],
      [4, 5],
    ])
  })

  it('more together than fit into a batch make one of their own', async () => {
    const { group, flushes, batches } = setUp({ batchMax: 2 })
    void group.add(1)
    const answers = group.addAll([2, 3, 4])
    await turn()
    flushes[0]!.end()
    await turn()
    await turn()
    flushes[1]!.end()
    expect(batches()).toEqual([[1], [2, 3, 4]])
    expect(await answers).toEqual(['did 2', 'did 3', 'did 4'])
  })

  it('as many flushes as lanes are in flight at once, not more', async () => {
    const { group, flushes, batches } = setUp({ lanes: 2, batchMax: 1 })
    for (const item of [1, 2, 3]) void group.add(item)
    await turn()
    await turn()
    await turn()
    expect(batches()).toEqual([[1], [2]])
    flushes[1]!.end()
    await turn()
    await turn()
    expect(batches()).toEqual([[1], [2], [3]])
  })

  it('with gatherMs a batch beside another waits until it is as large', async () => {
    const { group, batches } = setUp({ lanes: 2, gatherMs: 60_000 })
    void group.add(1)
    void group.add(2)
    await turn()
    void group.add(3)
    await turn()
    expect(batches()).toEqual([[1, 2]])
    void group.add(4)
    await turn()
    expect(batches()).toEqual([
      [1, 2],
      [3, 4],
    ])
  })

  it('with besideMin a batch beside another waits until it has so many', async () => {
    const { group, batches } = setUp({ lanes: 2, gatherMs: 60_000, besideMin: 3 })
    void group.add(1)
    await turn()
    void group.add(2)
    void group.add(3)
    await turn()
    expect(batches()).toEqual([[1]])
    void group.add(4)
    await turn()
    expect(batches()).toEqual([[1], [2, 3, 4]])
  })

  it('with besideMin nobody waits for others while no batch is under way', async () => {
    const { group, flushes, batches } = setUp({ lanes: 2, gatherMs: 60_000, besideMin: 3 })
    void group.add(1)
    await turn()
    void group.add(2)
    flushes[0]!.end()
    await turn()
    expect(batches()).toEqual([[1], [2]])
  })

  it('with gatherMs the next batch leaves before the answers of the last one are given', async () => {
    const { group, flushes, batches } = setUp({ lanes: 2, gatherMs: 60_000 })
    const seen = group.add(1).then(() => batches())
    void group.add(2)
    await turn()
    void group.add(3)
    flushes[0]!.end()
    expect(await seen).toEqual([[1, 2], [3]])
  })

  it('with gatherMs a batch that hangs holds nobody up for longer', async () => {
    const { group, flushes } = setUp({ lanes: 2, gatherMs: 1 })
    void group.add(1)
    void group.add(2)
    await turn()
    const behind = group.add(3)
    await vi.waitFor(() => expect(flushes).toHaveLength(2))
    flushes[1]!.end()
    expect(await behind).toBe('did 3')
  })

  it('a flush that fails rejects its own calls and leaves the next ones alone', async () => {
    const { group, flushes } = setUp()
    const first = [group.add(1), group.add(2)]
    const outcomes = Promise.allSettled(first)
    await turn()
    const next = group.add(3)
    flushes[0]!.fail(new Error('no database'))
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await turn()
    flushes[1]!.end()
    expect(await next).toBe('did 3')
  })

  it('a flush that throws instead of rejecting does not block the lane', async () => {
    let calls = 0
    const { group } = setUp({
      flush: (items) => {
        calls += 1
        if (calls === 1) throw new Error('thrown')
        return Promise.resolve(items.map((item) => `did ${item}`))
      },
    })
    await expect(group.add(1)).rejects.toThrow('thrown')
    expect(await group.add(2)).toBe('did 2')
  })

  it('an item that takes longer keeps neither its neighbours nor the next flush waiting', async () => {
    const { group, flushes, batches } = setUp()
    const slow = Promise.withResolvers<string>()
    const answers = [group.add(1), group.add(2)]
    await turn()
    flushes[0]!.end([slow.promise, 'did 2'])
    expect(await answers[1]).toBe('did 2')
    void group.add(3)
    await turn()
    expect(batches()).toEqual([[1, 2], [3]])
    slow.reject(new Error('only this one'))
    await expect(answers[0]).rejects.toThrow('only this one')
  })

  it('more calls than queueMax waiting at once are refused, and those before them are answered', async () => {
    const { group, flushes } = setUp({ queueMax: 2, overflow: () => 'refused' })
    const answers = Promise.all([1, 2, 3].map((item) => group.add(item)))
    await turn()
    flushes[0]!.end()
    expect(await answers).toEqual(['did 1', 'did 2', 'refused'])
  })
})
