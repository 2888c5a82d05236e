/** Worker processes that are killed again and again, each time in one of three ways, and replaced at once. */

import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Place, Running } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { KILL_AFTER, KILL_BEFORE } from './counted-pipeline.ts'

export type Way = 'anywhere' | 'before a step' | 'between a step and its commit'

const FILES: Record<Exclude<Way, 'anywhere'>, string> = {
  'before a step': KILL_BEFORE,
  'between a step and its commit': KILL_AFTER,
}

/** Others may be busy on the machine. */
export const START_MS = 120_000
const STARTS_MAX = 5

export type Fleet = {
  kills: Record<Way, number>
  /** Throws when a worker has ended by itself, or does not come up any more. */
  check(): void
  /** Kills one worker in this way, and has another started. */
  kill(way: Way): Promise<void>
  stop(): Promise<void>
}

export async function startFleet(
  place: Place,
  size: number,
  { random, env }: { random: () => number; env: Record<string, string> },
): Promise<Fleet> {
  const kills: Fleet['kills'] = { anywhere: 0, 'before a step': 0, 'between a step and its commit': 0 }
  const workers: (Running | null)[] = []
  const starting: Promise<void>[] = []
  let failure: Error | null = null

  async function start(index: number): Promise<void> {
    workers[index] = null
    for (let tries = 1; ; tries += 1) {
      const worker = place.run(['worker'], env)
      try {
        await worker.says('worker started', START_MS)
        workers[index] = worker
        return
      } catch (error) {
        if (tries === STARTS_MAX) throw error
      }
    }
  }

  const replace = (index: number) => {
    const started = start(index)
    started.catch((error: Error) => {
      failure ??= error
    })
    starting.push(started)
  }
  const alive = () => workers.flatMap((worker, index) => (worker?.isRunning() ? [{ worker, index }] : []))
  const dead = () => workers.findIndex((worker) => worker !== null && worker.isRunning() === false)

  await Promise.all(Array.from({ length: size }, (_, index) => start(index)))
  return {
    kills,
    check() {
      if (failure) throw failure
      const ended = workers[dead()]
      if (ended) throw new Error(`a worker ended by itself: ${ended.text()} ${JSON.stringify(ended.lines.slice(-3))}`)
    },
    async kill(way) {
      const ready = await until(() => alive().length > 0 && alive(), { what: 'a worker is up', timeoutMs: START_MS })
      if (way === 'anywhere') {
        const { worker, index } = ready[Math.floor(random() * ready.length)]!
        worker.kill('SIGKILL')
        await worker.exited
        replace(index)
      } else {
        const file = join(place.folder, FILES[way])
        await writeFile(file, '')
        await until(() => !existsSync(file) && dead() >= 0, { what: `a worker dies ${way}`, timeoutMs: START_MS })
        replace(dead())
      }
      kills[way] += 1
    },
    async stop() {
      await Promise.all(starting)
      for (const { worker } of alive()) worker.kill('SIGTERM')
      await Promise.all(workers.map((worker) => worker?.exited))
    },
  }
}
