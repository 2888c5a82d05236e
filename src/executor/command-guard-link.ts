/**
 * The worker's end of its guard of commands. The guard is started with the first program; one that dies is replaced and told again what to
 * watch. Without a guard programs still end with their group; only what left the group is not found.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Ended, Excess, FromGuard, GuardSetup, ToGuard, Watch } from './command-guard-messages.ts'

const PROGRAM = fileURLToPath(new URL(`./command-guard${import.meta.filename.slice(-3)}`, import.meta.url))
const STARTS_MAX = 3
const NOTHING_KNOWN: Ended = { cpuSeconds: null, peakMemoryBytes: null, killed: [], left: [] }

type Known = { watch: Watch; excess: Excess | null; ended: PromiseWithResolvers<Ended> | null }

export class GuardLink {
  /** Marks of this worker's programs begin with it; nobody else's do. */
  readonly markPrefix = `${randomBytes(12).toString('hex')}.`
  readonly #folder: string
  readonly #known = new Map<number, Known>()
  #guard: ChildProcess | null = null
  #startsInVain = 0
  #closed = false

  constructor(folder: string) {
    this.#folder = folder
  }

  get pid(): number | null {
    return this.#guard?.pid ?? null
  }

  /** Started before the program, so that there is no moment in which a program has no guard. */
  start(): void {
    if (this.#guard || this.#closed || this.#startsInVain >= STARTS_MAX) return
    const setup: GuardSetup = { markPrefix: this.markPrefix, folder: this.#folder }
    const options = ['--max-old-space-size=64', '--disable-warning=ExperimentalWarning']
    const guard = spawn(process.execPath, [...options, PROGRAM, JSON.stringify(setup)], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    this.#guard = guard
    this.#startsInVain++
    guard.stdin.on('error', () => {})
    guard.stdout.on('error', () => {})
    createInterface({ input: guard.stdout }).on('line', (line) => this.#receive(JSON.parse(line) as FromGuard))
    guard.once('error', () => this.#replace(guard))
    guard.once('exit', () => this.#replace(guard))
    for (const { watch, ended } of this.#known.values()) {
      this.#send(watch)
      if (ended) this.#send({ type: 'end', id: watch.id })
    }
  }

  watch(watch: Omit<Watch, 'type'>): void {
    const message: Watch = { type: 'watch', ...watch }
    this.#known.set(watch.id, { watch: message, excess: null, ended: null })
    this.#send(message)
  }

  /** SIGTERM for all its processes. */
  terminate(id: number): void {
    const known = this.#known.get(id)
    if (!known) return
    signalGroup(known.watch.pid, 'SIGTERM')
    this.#send({ type: 'terminate', id })
  }

  /** Its group only; `end` finds the others. */
  kill(id: number): void {
    const known = this.#known.get(id)
    if (known) signalGroup(known.watch.pid, 'SIGKILL')
  }

  /** Resolves when nothing of the program is left; then also says whether it had to be killed for taking too much. */
  async end(id: number): Promise<Ended & { excess: Excess | null }> {
    const known = this.#known.get(id)
    if (!known) return { ...NOTHING_KNOWN, excess: null }
    known.ended = Promise.withResolvers()
    if (this.#guard) this.#send({ type: 'end', id })
    else this.#endAlone(known)
    const ended = await known.ended.promise
    this.#known.delete(id)
    return { ...ended, excess: known.excess }
  }

  /** The guard leaves when its pipe closes, having killed whatever there still is. */
  async close(): Promise<void> {
    this.#closed = true
    const guard = this.#guard
    if (!guard || guard.exitCode !== null || guard.signalCode !== null) return
    const exited = new Promise((resolve) => guard.once('exit', resolve))
    guard.stdin?.end()
    await exited
  }

  #send(message: ToGuard): void {
    if (this.#guard?.stdin?.writable) this.#guard.stdin.write(`${JSON.stringify(message)}\n`)
  }

  #receive(message: FromGuard): void {
    this.#startsInVain = 0
    const known = this.#known.get(message.id)
    if (message.type === 'ended') known?.ended?.resolve(message)
    else if (known) known.excess ??= { what: message.what, bytes: message.bytes }
  }

  #replace(guard: ChildProcess): void {
    if (this.#guard !== guard) return
    this.#guard = null
    if (this.#known.size > 0) this.start()
    if (this.#guard) return
    for (const known of this.#known.values()) if (known.ended) this.#endAlone(known)
  }

  #endAlone(known: Known): void {
    signalGroup(known.watch.pid, 'SIGKILL')
    known.ended?.resolve(NOTHING_KNOWN)
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // The whole group is gone already.
  }
}
