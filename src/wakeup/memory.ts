/**
 * Wake-ups inside one process: for an API and a worker that share it, and for tests. Always up, reaches nobody else.
 */

import { createSubscribers } from './subscribers.ts'
import type { Wakeup, WakeupLog } from './wakeup.ts'

export function createMemoryWakeup(options: { log: WakeupLog }): Wakeup {
  const subscribers = createSubscribers((error) => options.log.warn({ err: error }, 'a wake-up callback failed'))
  return {
    name: 'memory',
    hint: (topic) => subscribers.tell(topic),
    async subscribe(topics, onHint) {
      const subscriber = subscribers.add(topics, onHint)
      for (const topic of topics) subscribers.tell(topic)
      return { close: async () => subscribers.remove(subscriber) }
    },
    async ping() {},
    async close() {
      subscribers.clear()
    },
  }
}
