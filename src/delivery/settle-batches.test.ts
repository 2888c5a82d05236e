import { expect, it } from 'vitest'
import type { Sent } from '../store/ports/deliveries.ts'
import { SettleBatches, type SettleBatchesOptions } from './settle-batches.ts'

const sentOf = (id: string): Sent => ({
  id,
  token: 'token',
  attempt: 1,
  outcome: 'delivered',
  startedAt: new Date(),
  durationMs: 1,
  request: 'request',
  response: 'response',
  error: null,
})

/** Records what was asked; `refuse` throws for a batch that the database does not take. */
function batchesOf({ refuse, ...options }: Partial<SettleBatchesOptions> & { refuse?: (sent: Sent[]) => void } = {}) {
  const asked: string[][] = []
  const failures: unknown[] = []
  const batches = new SettleBatches({
    async settle(sent) {
      asked.push(sent.map(({ id }) => id))
      refuse?.([...sent])
      return new Set(sent.map(({ id }) => id))
    },
    ping: async () => {},
    onFailure: (error) => void failures.push(error),
    pauseMs: () => 0,
    ...options,
  })
  return { batches, asked, failures, addAll: (ids: string[]) => Promise.all(ids.map((id) => batches.add(sentOf(id)))) }
}

it('what ends while a batch is on its way is the next batch', async () => {
  const { batches, asked } = batchesOf()
  const first = [batches.add(sentOf('a')), batches.add(sentOf('b'))]
  await Promise.resolve()
  const second = [batches.add(sentOf('c')), batches.add(sentOf('d'))]
  expect(await Promise.all([...first, ...second])).toEqual(['settled', 'settled', 'settled', 'settled'])
  expect(asked).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ])
})

it('a batch is never larger than its bound', async () => {
  const { asked, addAll } = batchesOf({ batchMax: 2 })
  await addAll(['a', 'b', 'c', 'd', 'e'])
  expect(asked.map((ids) => ids.length)).toEqual([2, 2, 1])
})

it('one whose lease was lost is late, and the others are settled', async () => {
  const { addAll } = batchesOf({ settle: async () => new Set(['b']) })
  expect(await addAll(['a', 'b'])).toEqual(['late', 'settled'])
})

it('while the database does not answer, the whole batch is sent again and again, and the first failure is told', async () => {
  let downs = 12
  const { addAll, asked, failures } = batchesOf({
    refuse: () => {
      downs -= 1
      if (downs > 0) throw new Error('no database')
    },
    ping: () => Promise.reject(new Error('no database')),
  })
  expect(await addAll(['a', 'b'])).toEqual(['settled', 'settled'])
  expect(asked).toEqual(Array(12).fill(['a', 'b']))
  expect(failures).toHaveLength(1)
})

it('one that the database never takes costs the others nothing, and is itself settled without what it logs', async () => {
  const { addAll, asked } = batchesOf({
    refuse: (sent) => {
      if (sent.some(({ id, request }) => id === 'poison' && request !== null)) throw new Error('invalid input syntax')
    },
  })
  expect(await addAll(['a', 'poison', 'b'])).toEqual(['settled', 'settled', 'settled'])
  expect(asked.filter((ids) => ids.length === 1 && ids[0] === 'b')).toHaveLength(1)
})

it('one that is refused even so is given up after a few times, and those behind it are settled', async () => {
  const { addAll } = batchesOf({
    refuse: (sent) => {
      if (sent.some(({ id }) => id === 'poison')) throw new Error('impossible')
    },
  })
  expect(await addAll(['poison', 'a'])).toEqual(['given-up', 'settled'])
})

it('a relay that ends does not wait for a database that is away', async () => {
  const { batches } = batchesOf({
    refuse: () => {
      throw new Error('no database')
    },
    ping: () => Promise.reject(new Error('no database')),
  })
  const ending = batches.add(sentOf('a'))
  batches.giveUp()
  expect(await ending).toBe('given-up')
})
