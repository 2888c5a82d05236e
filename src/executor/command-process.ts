/**
 * A started program: what it prints is read as it comes, and its end is known when its processes are gone and its last output has been read.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import type { GuardLink } from './command-guard-link.ts'
import type { Ended, Excess } from './command-guard-messages.ts'

export type ProgramStart = {
  argv: readonly string[]
  cwd: string
  env: Record<string, string>
  /** Written to standard input; null for none. */
  input: string | null
  onOutput: (stream: 'stdout' | 'stderr', chunk: Buffer) => void
}

export type ProgramReport = Ended & {
  code: number | null
  signal: NodeJS.Signals | null
  excess: Excess | null
}

const QUIET_MS = 500
const LAST_OUTPUT_MS_MAX = 5_000

export class CommandProcess {
  readonly pid: number
  /** When the first process of the program has ended. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  readonly #child: ChildProcess
  readonly #closed: Promise<void>
  #bytesRead = 0

  private constructor(child: ChildProcess, pid: number, onOutput: ProgramStart['onOutput']) {
    this.#child = child
    this.pid = pid
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream]?.on('data', (chunk: Buffer) => {
        this.#bytesRead += chunk.byteLength
        onOutput(stream, chunk)
      })
      child[stream]?.on('error', () => {})
    }
    this.exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
    this.#closed = new Promise((resolve) => child.once('close', () => resolve()))
  }

  /** Rejects when the program could not be started. */
  static start({ argv, cwd, env, input, onOutput }: ProgramStart): Promise<CommandProcess> {
    return new Promise((resolve, reject) => {
      const [program = '', ...args] = argv
      // A session of its own, and with it a group: the terminal's signals are not meant for it.
      const child = spawn(program, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
      child.on('error', reject)
      // A program need not read its input, nor to its end.
      child.stdin?.on('error', () => {})
      if (child.pid === undefined) return
      child.stdin?.end(input ?? '')
      resolve(new CommandProcess(child, child.pid, onOutput))
    })
  }

  /** Ends all that is left of the program once it has ended, and reads its last output. */
  async ended(guard: GuardLink, id: number): Promise<ProgramReport> {
    const exit = await this.exited
    const report = await guard.end(id)
    await this.#lastOutput()
    for (const stream of this.#child.stdio) stream?.destroy()
    return { ...exit, ...report }
  }

  /** With all its processes gone the output closes. One that could not be found may hold it open for ever; what it writes is nobody's. */
  async #lastOutput(): Promise<void> {
    const endMs = performance.now() + LAST_OUTPUT_MS_MAX
    let closed = false
    const close = this.#closed.then(() => {
      closed = true
    })
    for (let before = -1; !closed && before !== this.#bytesRead && performance.now() < endMs; ) {
      before = this.#bytesRead
      await Promise.race([close, quiet()])
    }
  }
}

/** Also after a pause of our own, what waits to be read is read before this resolves. */
function quiet(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(() => setImmediate(() => setImmediate(resolve)), QUIET_MS).unref()
  })
}
