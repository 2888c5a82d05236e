/**
 * The command executor: a model that is a program, in a process group and a folder of its own (docs/executors/command.md).
 *
 * Whatever a program does, the worker stays healthy and nothing of the program is left: its processes are killed with their attempt and with a
 * `kill -9`ed worker, its output costs bounded memory, and its memory, its folder and its time have limits.
 */

import type { CommandSpec } from '../run/definition.ts'
import { CommandAttempt, type CommandHouse } from './command-attempt.ts'
import { removeAbandoned, removeFolder, workerFolderIn } from './command-folder.ts'
import { GuardLink } from './command-guard-link.ts'
import type { KeepArtifact } from './command-outputs.ts'
import type { AbortReason, AttemptInput, AttemptReports, Executor, Handle, Outcome } from './executor.ts'

export type CommandOptions = {
  specOf: (model: string, version: string) => CommandSpec | undefined
  /** Where attempts get their folders; made when it is not there. */
  workFolder: string
  /** The environment programs may inherit from; only an allow-list of it is passed on. */
  env?: Readonly<Record<string, string | undefined>>
  /** Names passed on from `env` in addition, for every model. */
  envNames?: readonly string[]
  /** Without it, a program that leaves output files fails. */
  keepArtifact?: KeepArtifact
  /** Of all processes of a program together, unless its model says otherwise; null for no limit. */
  memoryLimitMb?: number | null
  folderBytesMax?: number
  resultBytesMax?: number
  /** What is printed beyond this is read and dropped. */
  outputBytesMax?: number
  outputFilesMax?: number
  outputFilesBytesMax?: number
  /** How long a program may take to stop once its time is over. */
  timeoutGraceMs?: number
}

const MIB = 1_048_576

export class CommandExecutor implements Executor {
  readonly name = 'command'
  readonly #specOf: CommandOptions['specOf']
  readonly #workFolder: string
  readonly #house: CommandHouse
  readonly #attempts = new Set<CommandAttempt>()
  #tidied: Promise<void> | null = null
  #lastId = 0
  #stopped = false

  constructor(options: CommandOptions) {
    this.#specOf = options.specOf
    this.#workFolder = options.workFolder
    const folder = workerFolderIn(options.workFolder)
    const { memoryLimitMb = 2_048 } = options
    this.#house = {
      guard: new GuardLink(folder),
      folder,
      env: options.env ?? {},
      envNames: options.envNames ?? [],
      memoryBytesMax: memoryLimitMb === null ? null : memoryLimitMb * MIB,
      folderBytesMax: options.folderBytesMax ?? 10_240 * MIB,
      resultBytesMax: options.resultBytesMax ?? 64 * MIB,
      outputBytesMax: options.outputBytesMax ?? 4 * MIB,
      outputs: { filesMax: options.outputFilesMax ?? 1_000, bytesMax: options.outputFilesBytesMax ?? 1_024 * MIB },
      keepArtifact: options.keepArtifact,
      timeoutGraceMs: options.timeoutGraceMs ?? 5_000,
    }
  }

  /** The process that guards the programs, once there is one. */
  get guardPid(): number | null {
    return this.#house.guard.pid
  }

  async submit(input: AttemptInput, reports: AttemptReports): Promise<Handle> {
    if (this.#stopped) throw new Error('the command executor has been stopped')
    const spec = this.#specOf(input.model, input.modelVersion)
    if (!spec) throw new Error(`this worker has no command for the model ${input.model}@${input.modelVersion}`)
    this.#tidied ??= removeAbandoned(this.#workFolder)
    const attempt = new CommandAttempt(++this.#lastId, input, spec, reports, this.#house)
    this.#attempts.add(attempt)
    void attempt.outcome.then(() => this.#attempts.delete(attempt))
    return attempt
  }

  watch(handle: Handle): Promise<Outcome> {
    return (handle as CommandAttempt).outcome
  }

  async cancel(handle: Handle, reason: AbortReason, graceMs: number): Promise<void> {
    const attempt = handle as CommandAttempt
    attempt.abort(reason, graceMs)
    await attempt.outcome
  }

  /** Attempts that still run are killed. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const attempt of this.#attempts) attempt.abort('shutdown', 0)
    await Promise.all([...this.#attempts].map((attempt) => attempt.outcome))
    await this.#tidied
    await this.#house.guard.close()
    await removeFolder(this.#house.folder)
  }
}
