/**
 * What an attempt leaves behind besides its outcome: what it printed, the files it made, what it used. Made at the first such report, as most short
 * attempts have none.
 */

import type { Artifact } from '../executor/executor.ts'
import type { Artifacts } from '../store/ports/artifacts.ts'
import type { LogStream } from '../store/ports/attempt-logs.ts'
import type { Attempts, Usage } from '../store/ports/attempts.ts'
import type { Lease } from '../store/store.ts'
import { AttemptLog } from './attempt-log.ts'
import type { LogWriter } from './log-writer.ts'

export type RecordDeps = {
  recordUsage?: Attempts['recordUsage']
  recordArtifacts?: Artifacts['record']
  /** Where what the attempt prints goes, and how much of it at most. */
  logs?: { writer: LogWriter; bytesMax: number }
}

export type RecordOptions = {
  /** The texts to take out of what was printed. */
  hidden: () => readonly string[]
  /** Asks until it is answered. */
  told: <Got>(ask: () => Promise<Got>, failure: string) => Promise<Got>
  warn: (error: Error, message: string) => void
}

export class AttemptRecord {
  readonly #lease: Lease
  readonly #deps: RecordDeps
  readonly #options: RecordOptions
  readonly #artifacts: Artifact[] = []
  #usage: Usage | null = null
  #printed: AttemptLog | null = null

  constructor(lease: Lease, deps: RecordDeps, options: RecordOptions) {
    this.#lease = lease
    this.#deps = deps
    this.#options = options
  }

  print(stream: LogStream, text: string): void {
    const { logs } = this.#deps
    if (!logs) return
    this.#printed ??= new AttemptLog(this.#lease, this.#options.hidden, logs.bytesMax)
    this.#printed.add(stream, text)
    logs.writer.note(this.#printed)
  }

  use(usage: Usage): void {
    this.#usage = usage
  }

  keep(artifact: Artifact): void {
    this.#artifacts.push(artifact)
  }

  /** The lease is lost: nothing more is written. */
  drop(): void {
    this.#printed?.close()
  }

  /** What a finished attempt could not take any more. What it printed is written also when it goes on elsewhere. */
  async write(isOver: boolean): Promise<void> {
    if (this.#printed) await this.#deps.logs?.writer.end(this.#printed)
    if (!isOver) return
    const { recordArtifacts, recordUsage } = this.#deps
    // A run never succeeds without its files: they are asked to be recorded as long as its end would be.
    if (this.#artifacts.length > 0 && recordArtifacts) {
      const record = () => recordArtifacts(this.#lease, this.#artifacts)
      await this.#options.told(record, 'could not record output files; trying again')
    }
    if (!this.#usage) return
    await recordUsage?.(this.#lease, this.#usage).catch((error: Error) =>
      this.#options.warn(error, 'could not record what the attempt used'),
    )
  }
}
