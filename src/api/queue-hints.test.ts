import { expect, it, vi } from 'vitest'
import { until } from '../../test/support/until.ts'
import type { Topic } from '../wakeup/wakeup.ts'
import { createQueueHints } from './queue-hints.ts'

function house(lingerMs?: number) {
  const listening = new Map<Topic, () => void>()
  const subscribe = vi.fn(async ([topic]: readonly Topic[], onHint: (topic: Topic) => void) => {
    listening.set(topic!, () => onHint(topic!))
    return { close: async () => void listening.delete(topic!) }
  })
  const told: string[] = []
  const hints = createQueueHints({ subscribe }, (queue) => void told.push(queue), lingerMs)
  return { hints, subscribe, listening, told }
}

it('subscribes once to a queue, however many follow it', async () => {
  const { hints, subscribe, listening, told } = house()
  hints.follow(['a', 'b'])
  hints.follow(['a'])
  await until(() => told.length === 2, { what: 'both queues were looked at' })
  expect(subscribe).toHaveBeenCalledTimes(2)
  listening.get('queue:a')!()
  expect(told).toEqual(['a', 'b', 'a'])
  await hints.close()
  expect([...listening.keys()]).toEqual([])
})

it('keeps a subscription for a while after the last one left, and ends it then', async () => {
  const { hints, subscribe, listening } = house(5)
  hints.follow(['a'])()
  hints.follow(['a'])()
  expect(subscribe).toHaveBeenCalledTimes(1)
  await until(() => listening.size === 0, { what: 'nobody listens', everyMs: 2 })
  hints.follow(['a'])
  expect(subscribe).toHaveBeenCalledTimes(2)
  await hints.close()
})
