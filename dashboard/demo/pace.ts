/**
 * How fast the demo goes. Its models say how many seconds their work would take, and sleep for a part of that:
 * DEMO_PACE real seconds for each of them, 0.05 when not set.
 */

import { setTimeout as sleep } from 'node:timers/promises'

const PACE = 0.05

export async function works(seconds: number, signal: AbortSignal): Promise<void> {
  const pace = Number(process.env.DEMO_PACE ?? PACE)
  await sleep(seconds * 1_000 * pace, undefined, { signal })
}

/** An error with the stack that such a failure has where models are deployed. */
export function withStack<Failure extends Error>(failure: Failure, ...places: string[]): Failure {
  failure.stack = [`${failure.name}: ${failure.message}`, ...places.map((place) => `    at ${place}`)].join('\n')
  return failure
}
