/**
 * Real processes of the service, started as a user would start them and watched through what they print. Everything that a test starts
 * here lives in one folder; `close` ends it and tells what was left running there.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { LogLine } from './recording-log.ts'
import { tempFolder } from './temp-folder.ts'
import { until } from './until.ts'

const PROGRAM = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url))
const FIXTURE_DASHBOARD = fileURLToPath(new URL('../fixtures/dashboard', import.meta.url))
export const FIXTURE_MODELS = fileURLToPath(new URL('../fixtures/models.ts', import.meta.url))

export type Running = {
  pid: number
  lines: LogLine[]
  /** What was printed that is no log line, on either stream. */
  text(): string
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  isRunning(): boolean
  kill(signal: NodeJS.Signals): void
  /** Waits for a log line with this message. */
  says(msg: string, timeoutMs?: number): Promise<LogLine>
}

export type Mark = { pid: number; atMs: number; program?: number; reason?: string }

export type Place = {
  folder: string
  /** Starts `holdfast <args>` in the folder, and waits for nothing. */
  run(args: string[], env?: Record<string, string>, prefix?: string[]): Running
  /** Any other program of Node, likewise. */
  runScript(script: URL, args: string[], env?: Record<string, string>): Running
  /** Any program at all, likewise. */
  runProgram(command: string, args: string[], env?: Record<string, string>): Running
  startWorker(env?: Record<string, string>): Promise<Running & { workerId: string }>
  startApi(env?: Record<string, string>): Promise<Running & { url: string }>
  startAll(env?: Record<string, string>): Promise<Running & { url: string }>
  /** Waits for what a model of test/fixtures/models.ts has marked. */
  marked(runId: string, attempt: number, what: string): Promise<Mark>
  hasMark(runId: string, attempt: number, what: string): boolean
  /** Creates the file that models wait for. */
  touch(name: string): Promise<void>
  /** Kills what is left of it, waits a moment, and fails when something of it lives on. */
  close(): Promise<void>
}

export async function openPlace(settings: Record<string, string> = {}): Promise<Place> {
  const folder = await tempFolder()
  const started: Running[] = []
  const defaults = {
    PATH: process.env.PATH ?? '',
    HOLDFAST_LOG_FORMAT: 'json',
    HOLDFAST_PORT: '0',
    HOLDFAST_MODELS: FIXTURE_MODELS,
    // Not the real one, which `holdfast start` would build first.
    HOLDFAST_DASHBOARD_DIR: FIXTURE_DASHBOARD,
    HOLDFAST_POLL_SECONDS: '0.1',
    HOLDFAST_JANITOR_SECONDS: '0.1',
    HOLDFAST_CANCEL_GRACE_SECONDS: '0.5',
    HOLDFAST_CONCURRENCY: '4',
    ...settings,
  }

  function launch(args: string[], env: Record<string, string> = {}, prefix: string[] = []): Running {
    const [command = process.execPath, ...rest] = [...prefix, process.execPath, ...args]
    return runProgram(command, rest, env)
  }

  function runProgram(command: string, args: string[], env: Record<string, string> = {}): Running {
    const child = spawn(command, args, {
      cwd: folder.path,
      env: { ...defaults, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const running = watch(child)
    started.push(running)
    return running
  }

  const run: Place['run'] = (args, env, prefix) => launch([PROGRAM, ...args], env, prefix)
  const markPath = (runId: string, attempt: number, what: string) => join(folder.path, `${runId}.a${attempt}.${what}`)

  async function startListening(args: string[], env?: Record<string, string>) {
    const process = run(args, env)
    const { url } = await process.says('listening', 30_000)
    return { ...process, url: String(url) }
  }

  return {
    folder: folder.path,
    run,
    runProgram,
    runScript: (script, args, env) => launch([fileURLToPath(script), ...args], env),
    async startWorker(env) {
      const process = run(['worker'], env)
      const line = await process.says('worker started', 20_000)
      return { ...process, workerId: String(line.worker_id) }
    },
    startApi: (env) => startListening(['api'], env),
    startAll: (env) => startListening(['start'], env),
    async marked(runId, attempt, what) {
      const path = markPath(runId, attempt, what)
      await until(() => existsSync(path), { what: `attempt ${attempt} of ${runId} marks ${what}`, timeoutMs: 20_000 })
      return JSON.parse(readFileSync(path, 'utf8'))
    },
    hasMark: (runId, attempt, what) => existsSync(markPath(runId, attempt, what)),
    touch: (name) => writeFile(join(folder.path, name), ''),
    async close() {
      for (const process of started) if (process.isRunning()) process.kill('SIGKILL')
      await Promise.all(started.map(({ exited }) => exited))
      await until(() => processesIn(folder.path).length === 0, {
        what: `nothing runs in ${folder.path} any more`,
        timeoutMs: 15_000,
      }).catch((error: Error) => {
        throw new Error(`${error.message}: ${processesIn(folder.path).join('; ')}`)
      })
      await folder.remove()
    },
  }
}

function watch(child: ChildProcess): Running {
  const lines: LogLine[] = []
  const text: string[] = []
  const read = (line: string) => {
    const entry = asLogLine(line)
    if (entry) lines.push(entry)
    else text.push(line)
  }
  const closed = [child.stdout!, child.stderr!].map((stream) =>
    once(createInterface({ input: stream }).on('line', read), 'close'),
  )
  const exited = once(child, 'exit').then(async ([code, signal]) => ({ code, signal }))
  // A program may be left that holds the output open; what the process itself wrote is read by then.
  const heardOut = exited.then(() => Promise.race([Promise.all(closed), new Promise((next) => setTimeout(next, 500))]))
  const isRunning = () => child.exitCode === null && child.signalCode === null
  return {
    pid: child.pid!,
    lines,
    text: () => text.join('\n'),
    exited: exited.then(async (end) => {
      await heardOut
      return end
    }),
    isRunning,
    kill: (signal) => void child.kill(signal),
    says: (msg, timeoutMs = 10_000) =>
      until(
        () => {
          const line = lines.find((entry) => entry.msg === msg)
          if (!line && !isRunning()) throw new Error(`it ended without saying "${msg}":\n${text.join('\n')}`)
          return line
        },
        { what: `process ${child.pid} says "${msg}"`, timeoutMs },
      ),
  }
}

function asLogLine(line: string): LogLine | null {
  if (!line.startsWith('{')) return null
  try {
    const entry = JSON.parse(line)
    return typeof entry.msg === 'string' ? entry : null
  } catch {
    return null
  }
}

/** Stops processes as an operator would and answers their exit codes. */
export function stopped(...processes: Running[]): Promise<(number | null)[]> {
  for (const process of processes) process.kill('SIGTERM')
  return Promise.all(processes.map(async ({ exited }) => (await exited).code))
}

/** Whose working folder or command line lies in the folder, such as workers, their children, and Postgres. Linux only. */
export function processesIn(folder: string): string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return []
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      const state = /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]
      if (state === 'Z') return []
      const cwd = readlinkSync(`/proc/${pid}/cwd`)
      return cwd.startsWith(folder) || command.includes(folder) ? [`${pid} ${command || '(kernel)'}`] : []
    } catch {
      return []
    }
  })
}

/** Ends, at once and together, everything that lives in the folder. */
export function killAllIn(folder: string): number[] {
  const pids = processesIn(folder).map((line) => Number.parseInt(line, 10))
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It died of another's death.
    }
  }
  return pids
}
