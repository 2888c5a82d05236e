/**
 * A pod of the in-process cluster, in the hands of a test: it waits, runs, prints and ends when it is told to. With `runProcess` a real program runs in
 * its place, with the environment the Job gave it, its output as the log, and its end as the pod's end.
 */

import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import { type KubeObject, type KubeStorage, now } from './kube-api-storage.ts'
import { tempFolder } from './temp-folder.ts'

export type LogLine = { at: string; text: string }

let lastNanos = 0n

/** Like the container runtime's, with nanoseconds, and never the same twice. */
function stamp(): string {
  const nanos = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1_000)) * 1_000n
  lastNanos = nanos > lastNanos ? nanos : lastNanos + 1n
  const seconds = new Date(Number(lastNanos / 1_000_000_000n) * 1_000).toISOString().slice(0, 19)
  return `${seconds}.${String(lastNanos % 1_000_000_000n).padStart(9, '0')}Z`
}

export class FakePod {
  readonly name: string
  readonly namespace: string
  readonly jobName: string
  readonly lines: LogLine[] = []
  /** Resolves when the pod is asked to stop. */
  readonly stopAsked: Promise<void>
  /** Set it to keep the pod alive when it is asked to stop, until `exit`. */
  ignoresStop = false
  env: Record<string, string> = {}
  readonly #storage: KubeStorage
  readonly #container: string
  readonly #listeners = new Set<() => void>()
  #askStop!: () => void
  #isOver = false

  constructor(storage: KubeStorage, pod: KubeObject) {
    this.#storage = storage
    this.name = pod.metadata.name
    this.namespace = pod.metadata.namespace
    this.jobName = pod.metadata.labels['job-name']
    this.#container = pod.spec.containers[0].name
    this.stopAsked = new Promise((resolve) => {
      this.#askStop = resolve
    })
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get object(): KubeObject | undefined {
    return this.#storage.get('pods', this.namespace, this.name)
  }

  waiting(reason: string, message = ''): void {
    this.#status('Pending', { waiting: { reason, message } })
  }

  unschedulable(message: string): void {
    this.#update((status) => {
      status.phase = 'Pending'
      status.conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }]
    })
  }

  start(): void {
    this.#status('Running', { running: { startedAt: now() } })
  }

  print(...texts: string[]): void {
    for (const text of texts) this.lines.push({ at: stamp(), text })
    this.#tell()
  }

  /** `message` is what the program wrote to /dev/termination-log. */
  exit(exitCode: number, { reason, message }: { reason?: string; message?: string } = {}): void {
    if (this.#isOver) return
    this.#isOver = true
    const terminated = {
      exitCode,
      reason: reason ?? (exitCode === 0 ? 'Completed' : 'Error'),
      ...(message !== undefined && { message: message.slice(0, 4096) }),
      finishedAt: now(),
    }
    this.#status(exitCode === 0 ? 'Succeeded' : 'Failed', { terminated })
    this.#tell()
  }

  evict(message: string): void {
    this.#update((status) => {
      status.reason = 'Evicted'
      status.message = message
      status.conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message }]
    })
    this.exit(137, { reason: 'Error' })
  }

  /** What the kubelet does on deletion: SIGTERM. */
  askStop(): void {
    this.#askStop()
    if (!this.ignoresStop) this.exit(143)
  }

  onLines(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves with the exit code. */
  async runProcess(argv: [string, ...string[]], env: Record<string, string> = {}): Promise<number> {
    const folder = await tempFolder()
    const terminationLog = join(folder.path, 'termination-log')
    const [command, ...rest] = argv
    const child = spawn(command, rest, {
      cwd: folder.path,
      env: { PATH: process.env.PATH ?? '', TERMINATION_LOG: terminationLog, ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.ignoresStop = true
    this.start()
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => this.print(...text.split('\n').filter(Boolean)))
    }
    void this.stopAsked.then(() => child.kill('SIGTERM'))
    const exitCode = await new Promise<number>((resolve) => {
      child.on('close', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)))
    })
    const message = await readFile(terminationLog, 'utf8').catch(() => undefined)
    this.exit(exitCode, message === undefined ? {} : { message })
    await folder.remove()
    return exitCode
  }

  #status(phase: string, state: object): void {
    this.#update((status) => {
      status.phase = phase
      status.containerStatuses = [{ name: this.#container, ready: 'running' in state, restartCount: 0, state }]
    })
  }

  // biome-ignore lint/suspicious/noExplicitAny: a pod's status, as the server keeps it.
  #update(change: (status: any) => void): void {
    this.#storage.update('pods', this.namespace, this.name, (pod) => {
      pod.status ??= {}
      change(pod.status)
    })
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}
