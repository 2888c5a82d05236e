/** Waits for a condition no event announces, such as the state of another process. Bounded; never a plain sleep. */

import { setTimeout as delay } from 'node:timers/promises'

type Falsy = false | null | undefined | 0 | ''

export async function until<T>(
  check: () => Promise<T | Falsy> | T | Falsy,
  { timeoutMs = 10_000, everyMs = 20, what }: { timeoutMs?: number; everyMs?: number; what: string },
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const found = await check()
    if (found) return found
    if (performance.now() > deadline) throw new Error(`gave up after ${timeoutMs} ms waiting until ${what}`)
    await delay(everyMs)
  }
}
