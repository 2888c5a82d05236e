/**
 * Who wants to hear of which topic inside this process.
 *
 * Calls are gathered until the end of the current tick, so five hundred hints after one commit wake a subscriber
 * once. A callback that throws harms nobody: the others are still called, and its error is reported.
 */

import type { Topic } from './wakeup.ts'

export type Subscriber = { readonly topics: readonly Topic[]; readonly onHint: (topic: Topic) => void }

export type Subscribers = {
  add(topics: readonly Topic[], onHint: (topic: Topic) => void): Subscriber
  remove(subscriber: Subscriber): void
  /** Calls everyone who wants this topic, once, at the end of the tick. */
  tell(topic: Topic): void
  /** Calls everyone once for each of their topics: something may have been missed. */
  tellAll(): void
  clear(): void
}

export function createSubscribers(onError: (error: unknown) => void): Subscribers {
  const byTopic = new Map<Topic, Set<Subscriber>>()
  const gathered = new Set<Topic>()

  function deliver(): void {
    const topics = [...gathered]
    gathered.clear()
    for (const topic of topics) {
      for (const subscriber of byTopic.get(topic) ?? []) {
        try {
          subscriber.onHint(topic)
        } catch (error) {
          onError(error)
        }
      }
    }
  }

  function tell(topic: Topic): void {
    if (!byTopic.has(topic)) return
    if (gathered.size === 0) queueMicrotask(deliver)
    gathered.add(topic)
  }

  return {
    tell,
    add(topics, onHint) {
      const subscriber = { topics: [...topics], onHint }
      for (const topic of subscriber.topics) {
        const wanting = byTopic.get(topic)
        if (wanting) wanting.add(subscriber)
        else byTopic.set(topic, new Set([subscriber]))
      }
      return subscriber
    },
    remove(subscriber) {
      for (const topic of subscriber.topics) {
        const wanting = byTopic.get(topic)
        wanting?.delete(subscriber)
        if (wanting?.size === 0) byTopic.delete(topic)
      }
    },
    tellAll() {
      for (const topic of byTopic.keys()) tell(topic)
    },
    clear() {
      byTopic.clear()
    },
  }
}
