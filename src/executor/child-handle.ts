/**
 * A pool child as the worker sees it: starting it, talking to it, reading its output, ending it with all it has started.
 *
 * The child leads a process group of its own. However it ends, the rest of its group is killed after it, and only when
 * its last output has been read is its end reported.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { ExitReport } from './exit-error.ts'
import { LineReader } from './line-reader.ts'
import { type ChildSetup, type FromChild, type LastWords, LIFELINE_FD, type ToChild } from './messages.ts'

export type ChildOptions = {
  setup: ChildSetup
  env: Record<string, string>
  /** Options of Node for the child, such as `--import`. */
  execArgv: string[]
}

/** Who is told what the child does. */
export type ChildListener = {
  onMessage(message: FromChild): void
  onLine(stream: 'stdout' | 'stderr', line: string): void
  onExit(report: ExitReport): void
}

const PROGRAM = fileURLToPath(new URL('./child.ts', import.meta.url))
const END_GRACE_MS = 1_000
const LAST_OUTPUT_MS = 500
/** The rest of the resident memory is for what V8 keeps outside its heap. */
const HEAP_SHARE = 0.8

export class ChildHandle {
  readonly exited: Promise<void>
  /** True until an attempt was given to it. */
  fresh = true
  idleSinceMs = 0
  #listener: ChildListener
  readonly #process: ChildProcess
  readonly #stdout: LineReader
  readonly #stderr: LineReader
  readonly #report: ExitReport = { code: null, signal: null, lastWords: null, heapFull: false, startError: null }
  #ending = false

  constructor(options: ChildOptions, listener: ChildListener) {
    this.#listener = listener
    this.#process = startProcess(options)
    this.#stdout = new LineReader((line) => this.#listener.onLine('stdout', line))
    this.#stderr = new LineReader((line) => {
      if (line.includes('heap out of memory')) this.#report.heapFull = true
      this.#listener.onLine('stderr', line)
    })
    this.exited = this.#watch()
  }

  set listener(listener: ChildListener) {
    this.#listener = listener
  }

  /** False from the moment it is being ended, or has ended. */
  get usable(): boolean {
    return !this.#ending && this.#process.exitCode === null && this.#process.signalCode === null
  }

  send(message: ToChild): void {
    // A child that died meanwhile is noticed by its end.
    if (this.#process.connected) this.#process.send(message, () => {})
  }

  /** Gives out what was written without the end of a line. */
  flushOutput(): void {
    this.#stdout.flush()
    this.#stderr.flush()
  }

  signalGroup(signal: NodeJS.Signals): void {
    const { pid } = this.#process
    if (pid === undefined) return
    try {
      process.kill(-pid, signal)
    } catch {
      // The whole group is gone already.
    }
  }

  kill(): void {
    this.#ending = true
    this.signalGroup('SIGKILL')
  }

  /** Lets the child leave by itself, within a moment. */
  end(): void {
    if (this.#ending) return
    this.#ending = true
    this.send({ type: 'end' })
    const timer = setTimeout(() => this.signalGroup('SIGKILL'), END_GRACE_MS)
    void this.exited.then(() => clearTimeout(timer))
  }

  #watch(): Promise<void> {
    const child = this.#process
    child.stdout?.on('data', (chunk: Buffer) => this.#stdout.push(chunk))
    child.stderr?.on('data', (chunk: Buffer) => this.#stderr.push(chunk))
    // A process for which there were no file descriptors left has no streams at all.
    const lifeline = child.stdio?.[LIFELINE_FD] as Readable | undefined
    lifeline?.on('data', (chunk: Buffer) => {
      this.#report.lastWords ??= lastWordsIn(chunk)
    })
    // A socket whose other end was killed may answer with a reset; the exit tells what happened.
    for (const stream of [child.stdout, child.stderr, lifeline]) stream?.on('error', () => {})
    child.on('message', (message) => {
      // User code and its libraries may send messages too, of any kind.
      if (typeof message === 'object' && message !== null) this.#listener.onMessage(message as FromChild)
    })
    // User code that closes the channel has made its process useless.
    child.on('disconnect', () => this.signalGroup('SIGKILL'))
    return new Promise((resolve) => {
      const ended = () => {
        clearTimeout(lastOutput)
        this.flushOutput()
        for (const stream of child.stdio ?? []) stream?.destroy()
        this.#listener.onExit(this.#report)
        resolve()
      }
      let lastOutput: NodeJS.Timeout | undefined
      child.once('error', (error) => {
        if (child.pid !== undefined) return
        this.#report.startError = error
        ended()
      })
      child.once('exit', (code, signal) => {
        Object.assign(this.#report, { code, signal })
        this.signalGroup('SIGKILL')
        // A program that left the group may hold the output open for ever; what it writes is nobody's.
        lastOutput = setTimeout(ended, LAST_OUTPUT_MS)
        child.once('close', ended)
      })
    })
  }
}

function startProcess({ setup, env, execArgv }: ChildOptions): ChildProcess {
  const heapMb = Math.max(16, Math.floor(setup.memoryLimitMb * HEAP_SHARE))
  const nodeOptions = [`--max-old-space-size=${heapMb}`, '--disable-warning=ExperimentalWarning', ...execArgv]
  return spawn(process.execPath, [...nodeOptions, PROGRAM, JSON.stringify(setup)], {
    cwd: setup.from,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc', 'pipe'],
  })
}

function lastWordsIn(chunk: Buffer): LastWords | null {
  try {
    return JSON.parse(chunk.toString()) as LastWords
  } catch {
    return null
  }
}
