/**
 * Hints about queues for everyone in this process who wants them: one subscription for each queue, kept for a while
 * after the last one has gone, because workers come back.
 */

import type { Subscription, Wakeup } from '../wakeup/wakeup.ts'

const LINGER_MS = 60_000

export type QueueHints = {
  /** Answers how to stop. */
  follow(queues: string[]): () => void
  close(): Promise<void>
}

type Followed = { followers: number; subscription: Promise<Subscription>; lingering: NodeJS.Timeout | null }

export function createQueueHints(
  wakeup: Pick<Wakeup, 'subscribe'>,
  onHint: (queue: string) => void,
  lingerMs: number = LINGER_MS,
): QueueHints {
  const followed = new Map<string, Followed>()

  function begin(queue: string): Followed {
    const subscription = wakeup.subscribe([`queue:${queue}`], () => onHint(queue))
    const one: Followed = { followers: 0, subscription, lingering: null }
    followed.set(queue, one)
    // Work that came before it listened is looked for now.
    subscription.then(
      () => onHint(queue),
      () => followed.delete(queue),
    )
    return one
  }

  function release(queue: string, one: Followed): void {
    one.followers -= 1
    if (one.followers > 0 || followed.get(queue) !== one) return
    one.lingering = setTimeout(() => {
      followed.delete(queue)
      void closed(one)
    }, lingerMs)
    one.lingering.unref()
  }

  return {
    follow(queues) {
      const mine = queues.map((queue) => {
        const one = followed.get(queue) ?? begin(queue)
        if (one.lingering) clearTimeout(one.lingering)
        one.lingering = null
        one.followers += 1
        return { queue, one }
      })
      return () => {
        for (const { queue, one } of mine) release(queue, one)
      }
    },
    async close() {
      const all = [...followed.values()]
      followed.clear()
      for (const { lingering } of all) if (lingering) clearTimeout(lingering)
      await Promise.all(all.map(closed))
    },
  }
}

function closed({ subscription }: Followed): Promise<void> {
  return subscription.then((open) => open.close()).catch(() => {})
}
