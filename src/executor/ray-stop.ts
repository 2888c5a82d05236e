/**
 * Stops a Ray job and waits until it is known to be gone: ended in Ray's eyes, or unknown to Ray. Ray takes a stop as a wish and answers before
 * anything has happened, and one that comes before the job's supervisor is lost, so the wish is repeated.
 */

import type { Pause } from './pause.ts'
import { isOver, type RayClient, type RayJob, RayRefused, RayUnreachable } from './ray-client.ts'

export type StopOptions = {
  pause: Pause
  /** null: until it is confirmed. */
  withinMs: number | null
  isLeft: () => boolean
}

const ASK_AGAIN_MS = 5_000
const PAUSE_MS_MAX = 2_000

export type Stopped = RayJob | 'gone' | 'unconfirmed' | 'left'

export async function stopJob(client: RayClient, id: string, options: StopOptions): Promise<Stopped> {
  const { pause, withinMs, isLeft } = options
  if (withinMs === null) return ask(client, id, pause, isLeft)
  let isLate = false
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'unconfirmed'>((resolve) => {
    timer = setTimeout(() => {
      isLate = true
      pause.end()
      resolve('unconfirmed')
    }, withinMs)
  })
  // A request that hangs must not hold up a caller who gave it only so long.
  const end = await Promise.race([ask(client, id, pause, () => isLate || isLeft()), late])
  clearTimeout(timer)
  return end
}

async function ask(client: RayClient, id: string, pause: Pause, isLeft: () => boolean): Promise<Stopped> {
  let askedAtMs = Number.NEGATIVE_INFINITY
  for (let looks = 0; ; looks += 1) {
    if (isLeft()) return 'left'
    try {
      if (performance.now() - askedAtMs > ASK_AGAIN_MS) {
        const told = await client.stop(id)
        if (told === null) return 'gone'
        if (told) askedAtMs = performance.now()
      }
      const job = await client.job(id)
      if (job === null) return 'gone'
      if (isOver(job)) return job
    } catch (error) {
      if (!(error instanceof RayUnreachable || error instanceof RayRefused)) throw error
    }
    await pause.wait(Math.min(PAUSE_MS_MAX, 100 * 1.5 ** Math.min(looks, 20)))
  }
}
