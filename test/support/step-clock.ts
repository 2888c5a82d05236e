/** A clock whose sleeps are over at once: it only remembers them, and moves on by them. */

export type StepClock = {
  slept: number[]
  nowMs(): number
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export function stepClock(): StepClock {
  const slept: number[] = []
  let nowMs = 1_000_000
  return {
    slept,
    nowMs: () => nowMs,
    async sleep(ms, signal) {
      signal?.throwIfAborted()
      slept.push(ms)
      nowMs += ms
      // Others get their turn, as they would during a sleep.
      await new Promise((next) => setImmediate(next))
      signal?.throwIfAborted()
    },
  }
}
