/**
 * A worker process seen from its parent. It is killed when it has done its part: no contender is given time to tidy
 * up.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { WORKER_FLAGS } from '../src/cli/supervisor.ts'
import type { Aim, Place } from './contender.ts'
import type { Begin, Report } from './worker-process.ts'

const PROGRAM = fileURLToPath(new URL('./worker-process.ts', import.meta.url))

export type WorkerHandle = {
  begin(begin: Begin): void
  /** The next report of a kind. Rejects when the process ends or the time is up. */
  report<T extends Report['type']>(type: T, withinMs: number): Promise<Extract<Report, { type: T }>>
  onReport(listener: (report: Report) => void): void
  kill(): Promise<void>
}

/** Resolves when the process has loaded its code; it takes no runs before `begin`. */
export async function startWorkerProcess(contender: string, place: Place, aim: Aim): Promise<WorkerHandle> {
  const child = fork(PROGRAM, [contender, place.url, place.folder, aim], {
    // As the service starts its own, for every contender.
    execArgv: WORKER_FLAGS,
    // Standard output goes to /dev/null; so do the lines contenders log there.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, NO_LOG_SUCCESS: '1' },
  })
  const handle = handleOf(child, contender)
  await handle.report('loaded', 30_000)
  return handle
}

function handleOf(child: ChildProcess, contender: string): WorkerHandle {
  const exited = once(child, 'exit')
  return {
    begin: (begin) => void child.send(begin),
    report(type, withinMs) {
      return new Promise((resolve, reject) => {
        const fail = (why: string) => finish(() => reject(new Error(`the worker of ${contender} ${why}`)))
        const timer = setTimeout(() => fail(`did not report "${type}" within ${withinMs / 1_000} s`), withinMs)
        const onExit = () => fail(`ended before it reported "${type}"`)
        const onMessage = (report: Report) => {
          if (report.type === type) finish(() => resolve(report as never))
        }
        function finish(end: () => void): void {
          clearTimeout(timer)
          child.off('exit', onExit).off('message', onMessage)
          end()
        }
        child.on('exit', onExit).on('message', onMessage)
      })
    },
    onReport: (listener) => void child.on('message', listener),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
