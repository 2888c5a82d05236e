/** One start of the server program: from spawn to ready, its log lines, and its end. */

import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { type Launcher, launch } from './launcher.ts'
import { isReady } from './lock-file.ts'
import { settingArguments } from './settings.ts'

const READY_POLL_MS = 15
/** Recovery after a crash replays at most max_wal_size, which takes minutes on a slow disk. */
const READY_MS_MAX = 300_000
const FAST_SHUTDOWN_MS_MAX = 10_000
const LINES_KEPT = 20

export type Server = { pid: number; port: number; stop(): Promise<void>; exited: Promise<void> }

export type ServerOptions = {
  launcher: Launcher
  program: string
  dataFolder: string
  port: number
  settings: Record<string, string>
  log: (line: string) => void
}

/** A start that may succeed when tried again. */
export class StartRefused extends Error {
  readonly reason: 'folder taken' | 'port taken'
  constructor(reason: 'folder taken' | 'port taken', output: string) {
    super(`The embedded Postgres did not start (${reason}):\n${output}`)
    this.name = 'StartRefused'
    this.reason = reason
  }
}

export async function runServer(options: ServerOptions): Promise<Server> {
  const { launcher, program, dataFolder, port, settings, log } = options
  const args = ['-D', dataFolder, ...settingArguments(port, settings)]
  // A group of its own: Ctrl-C in a terminal must reach us alone, so that work is handed back before the database goes.
  const child = launch(launcher, program, args, { detached: true })
  const lastLines: string[] = []
  const exited = followToEnd(child, (line) => {
    lastLines.push(line)
    if (lastLines.length > LINES_KEPT) lastLines.shift()
    log(line)
  })
  if (!(await becomesReady(child, dataFolder, exited))) {
    child.kill('SIGQUIT')
    await exited
    throw explain(lastLines.join('\n'))
  }
  return { pid: child.pid ?? 0, port, stop: () => stopServer(child, exited), exited }
}

function followToEnd(child: ChildProcess, onLine: (line: string) => void): Promise<void> {
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', onLine)
  }
  // Where no signal at our death can be asked for, an orderly exit at least takes the server along.
  const onExit = () => child.kill('SIGINT')
  process.once('exit', onExit)
  return new Promise((resolve) => {
    const end = () => {
      process.off('exit', onExit)
      resolve()
    }
    child.once('error', (error) => {
      onLine(error.message)
      end()
    })
    child.once('close', end)
  })
}

async function becomesReady(child: ChildProcess, dataFolder: string, exited: Promise<void>): Promise<boolean> {
  let ended = false
  exited.then(() => {
    ended = true
  })
  const deadline = performance.now() + READY_MS_MAX
  while (!ended && performance.now() < deadline) {
    if (child.pid && (await isReady(dataFolder, child.pid))) return true
    await Promise.race([delay(READY_POLL_MS), exited])
  }
  return false
}

async function stopServer(child: ChildProcess, exited: Promise<void>): Promise<void> {
  child.kill('SIGINT')
  const impatience = setTimeout(() => child.kill('SIGQUIT'), FAST_SHUTDOWN_MS_MAX)
  await exited
  clearTimeout(impatience)
}

function explain(output: string): Error {
  if (/lock file "postmaster\.pid"|pre-existing shared memory block/.test(output)) {
    return new StartRefused('folder taken', output)
  }
  if (/Address already in use|could not create any TCP\/IP sockets/.test(output)) {
    return new StartRefused('port taken', output)
  }
  return new Error(`The embedded Postgres did not start:\n${output}`)
}
