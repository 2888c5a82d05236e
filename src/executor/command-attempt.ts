/**
 * One attempt of a command: its folder is made, the program started and watched, its result read, its output files kept, its folder removed.
 *
 * Told to stop, all processes of the program get SIGTERM, and SIGKILL when the grace is over. A result file written by a program
 * that still ended with exit code 0 stands; the last line of its output does not, as it may be any line.
 */

import { attemptErrorFrom, ownError } from '../model/attempt-error.ts'
import { abortedOutcome } from '../model/run-attempt.ts'
import { canonicalText } from '../run/canonical.ts'
import type { CommandSpec } from '../run/definition.ts'
import { hideTexts } from '../run/redaction.ts'
import { readCost } from './command-cost.ts'
import { commandEnvironment, hiddenPieces, readSecrets } from './command-environment.ts'
import { describedError, endError, excessError, FATAL_EXIT_CODES_DEFAULT } from './command-error.ts'
import { type AttemptFolder, makeAttemptFolder, removeFolder } from './command-folder.ts'
import type { GuardLink } from './command-guard-link.ts'
import { findOutputs, type KeepArtifact, keepOutputs, type OutputLimits, OutputsRefused } from './command-outputs.ts'
import { CommandProcess, type ProgramReport } from './command-process.ts'
import { ProgressFile } from './command-progress.ts'
import { type ResultPlaces, readCommandResult, readResultFile } from './command-result.ts'
import type { AbortReason, AttemptError, AttemptInput, AttemptReports, Handle, Outcome } from './executor.ts'
import { LastLine } from './last-line.ts'
import { OutputText } from './output-text.ts'
import { Timer } from './timer.ts'

/** What all attempts of an executor share. */
export type CommandHouse = {
  guard: GuardLink
  folder: string
  env: Readonly<Record<string, string | undefined>>
  envNames: readonly string[]
  memoryBytesMax: number | null
  folderBytesMax: number
  resultBytesMax: number
  outputBytesMax: number
  outputs: OutputLimits
  keepArtifact: KeepArtifact | undefined
  timeoutGraceMs: number
}

const LINE_BYTES_MAX = 1024 * 1024
const STDERR_TAIL_BYTES = 8 * 1024

/** `stderr` is the end of what it wrote there, as it came. */
type Running = { folder: AttemptFolder; lastLine: LastLine; stderr: Buffer }

export class CommandAttempt implements Handle {
  readonly runId: string
  readonly attempt: number
  readonly outcome: Promise<Outcome>
  readonly #id: number
  readonly #input: AttemptInput
  readonly #spec: CommandSpec
  readonly #reports: AttemptReports
  readonly #house: CommandHouse
  readonly #deadline: Timer
  #hidden: string[] = []
  #process: CommandProcess | null = null
  #ended = false
  #abortReason: AbortReason | null = null
  #kill: Timer | undefined
  #killAtMs = Number.POSITIVE_INFINITY

  constructor(id: number, input: AttemptInput, spec: CommandSpec, reports: AttemptReports, house: CommandHouse) {
    this.runId = input.runId
    this.attempt = input.attempt
    this.#id = id
    this.#input = input
    this.#spec = spec
    this.#reports = reports
    this.#house = house
    this.#deadline = new Timer(input.timeoutMs, () => this.abort('timeout', house.timeoutGraceMs))
    this.outcome = this.#run()
  }

  abort(reason: AbortReason, graceMs: number): void {
    if (this.#ended) return
    const first = this.#abortReason === null
    this.#abortReason ??= reason
    const killAtMs = performance.now() + graceMs
    if (killAtMs < this.#killAtMs) {
      this.#killAtMs = killAtMs
      this.#kill?.stop()
      this.#kill = new Timer(graceMs, () => this.#house.guard.kill(this.#id))
    }
    // A program that gets no time needs no warning.
    if (this.#process === null) return
    if (graceMs <= 0) this.#house.guard.kill(this.#id)
    else if (first) this.#house.guard.terminate(this.#id)
  }

  async #run(): Promise<Outcome> {
    let folder: AttemptFolder | null = null
    try {
      const secrets = await readSecrets(this.#spec.secrets)
      this.#hidden = hiddenPieces(secrets)
      folder = await makeAttemptFolder(this.#house.folder, this.#input, {
        parametersText: canonicalText(this.#input.parameters),
        source: this.#spec.folder,
        files: this.#input.files,
      })
      if (this.#abortReason !== null) return this.#aborted('')
      return this.#withoutSecrets(await this.#perform(folder, secrets))
    } catch (thrown) {
      return { status: 'failed', error: notStarted(thrown) }
    } finally {
      this.#ended = true
      this.#deadline.stop()
      this.#kill?.stop()
      if (folder) await this.#remove(folder.path)
    }
  }

  async #perform(folder: AttemptFolder, secrets: Record<string, string>): Promise<Outcome> {
    const running: Running = { folder, lastLine: new LastLine(LINE_BYTES_MAX), stderr: Buffer.alloc(0) }
    const texts = { stdout: this.#outputText('stdout'), stderr: this.#outputText('stderr') }
    const { guard } = this.#house
    const mark = `${guard.markPrefix}${this.#id}`
    guard.start()
    const program = await CommandProcess.start({
      argv: this.#spec.argv,
      cwd: folder.work,
      env: commandEnvironment({ ...this.#surroundings(), secrets, folder, mark }),
      input: this.#spec.stdin === false ? null : `${canonicalText(this.#input.parameters)}\n`,
      onOutput: (stream, chunk) => {
        texts[stream].push(chunk)
        if (stream === 'stdout') running.lastLine.push(chunk)
        else running.stderr = endOf(running.stderr, chunk)
      },
    })
    this.#process = program
    guard.watch({ id: this.#id, pid: program.pid, mark, folder: folder.path, ...this.#limits() })
    const progress = this.#followProgress(folder)
    // Told to stop while it was being started.
    if (this.#abortReason !== null) guard.kill(this.#id)
    const report = await program.ended(guard, this.#id)
    this.#kill?.stop()
    for (const text of Object.values(texts)) text.end()
    await progress.end()
    const cost = await readCost(folder.cost, (message) => this.#log('warn', message))
    if (cost !== null) this.#reports.cost?.(cost)
    this.#tellOfEnd(report)
    return this.#outcomeOf(report, running)
  }

  async #outcomeOf(report: ProgramReport, running: Running): Promise<Outcome> {
    const places: ResultPlaces = {
      from: this.#spec.result,
      path: running.folder.result,
      lastLine: running.lastLine,
      bytesMax: this.#house.resultBytesMax,
      lineBytesMax: LINE_BYTES_MAX,
    }
    if (this.#abortReason !== null) {
      const finished = report.code === 0 && this.#spec.result !== 'last-line' ? await readResultFile(places) : null
      if (finished?.status !== 'succeeded') return this.#aborted(report.signal === 'SIGKILL' ? ' and was killed' : '')
      return this.#keepOutputs(running.folder, finished)
    }
    if (report.excess) return { status: 'failed', error: excessError(report.excess, this.#limits()) }
    if (report.code !== 0) return { status: 'failed', error: await this.#failure(report, running) }
    const outcome = await readCommandResult(places)
    return outcome.status === 'succeeded' ? this.#keepOutputs(running.folder, outcome) : outcome
  }

  async #failure(report: ProgramReport, { folder, stderr }: Running): Promise<AttemptError> {
    const end = { code: report.code, signal: report.signal, stderrTail: stderr.toString('utf8') }
    const plain = endError(end, this.#spec.fatalExitCodes ?? FATAL_EXIT_CODES_DEFAULT)
    const { error, problem } = await describedError(folder.error, plain)
    if (problem) this.#log('warn', problem)
    return error
  }

  async #keepOutputs(folder: AttemptFolder, succeeded: Outcome): Promise<Outcome> {
    const { keepArtifact: keep, outputs: limits } = this.#house
    const onLeftOut = (message: string) => this.#log('warn', message)
    try {
      const files = await findOutputs(folder.output, { globs: this.#spec.outputs, limits, onLeftOut })
      if (files.length === 0) return succeeded
      if (!keep) throw new Error('this worker has nowhere to keep output files')
      await keepOutputs(files, this.#input, keep, (artifact) => {
        const { name, bytes, ref } = artifact
        this.#reports.artifact?.(artifact)
        this.#log('info', `kept output file ${JSON.stringify(name)}: ${bytes} bytes, ${ref}`, { artifact })
      })
      return succeeded
    } catch (thrown) {
      if (thrown instanceof OutputsRefused) {
        return {
          status: 'failed',
          error: ownError('OutputsRefused', thrown.message, { retryable: false, exitCode: 0 }),
        }
      }
      const full = (thrown as { code?: string }).code === 'artifact-store-full'
      const message = `the output files could not be kept: ${(thrown as Error).message}`
      return { status: 'failed', error: ownError(full ? 'ArtifactStoreFull' : 'ArtifactStoreFailed', message) }
    }
  }

  #outputText(stream: 'stdout' | 'stderr'): OutputText {
    return new OutputText({
      hidden: this.#hidden,
      bytesMax: this.#house.outputBytesMax,
      emit: (text) => this.#reports.output?.(stream, text),
      onTrouble: (message) => this.#log('error', `${stream}: ${message}`),
    })
  }

  #followProgress(folder: AttemptFolder): ProgressFile {
    return new ProgressFile({
      path: folder.progress,
      hidden: this.#hidden,
      onProgress: (value) => this.#reports.progress(value),
      onProblem: (message) => this.#log('warn', message),
    })
  }

  #tellOfEnd({ cpuSeconds, peakMemoryBytes, killed, left }: ProgramReport): void {
    this.#reports.usage?.({ cpuSeconds, peakMemoryBytes })
    if (left.length > 0) this.#log('error', `processes of the program could not be killed: ${left.join(', ')}`)
    else if (killed.length > 0) {
      const names = killed.slice(0, 20).join(', ')
      this.#log('error', `killed ${killed.length} processes that were left when the program had ended: ${names}`)
    }
  }

  #surroundings() {
    const { env, envNames } = this.#house
    return { source: env, envNames, spec: this.#spec, input: this.#input }
  }

  #limits(): { memoryBytesMax: number | null; folderBytesMax: number } {
    const { memoryMb } = this.#spec
    const memoryBytesMax = memoryMb === undefined ? this.#house.memoryBytesMax : memoryMb && memoryMb * 1_048_576
    return { memoryBytesMax, folderBytesMax: this.#house.folderBytesMax }
  }

  #aborted(detail: string): Outcome {
    return abortedOutcome(this.#abortReason ?? 'cancelled', this.#input.timeoutMs, detail)
  }

  #withoutSecrets(outcome: Outcome): Outcome {
    if (outcome.status !== 'failed') return outcome
    const { error } = outcome
    const stack = error.stack === null ? null : hideTexts(error.stack, this.#hidden)
    return { status: 'failed', error: { ...error, message: hideTexts(error.message, this.#hidden), stack } }
  }

  #log(level: 'info' | 'warn' | 'error', message: string, fields?: Record<string, unknown>): void {
    this.#reports.log(level, hideTexts(message, this.#hidden), fields)
  }

  async #remove(path: string): Promise<void> {
    try {
      await removeFolder(path)
    } catch (error) {
      this.#log('warn', `the folder of the attempt could not be removed: ${(error as Error).message}`)
    }
  }
}

function endOf(before: Buffer, chunk: Buffer): Buffer {
  return Buffer.from(Buffer.concat([before, chunk]).subarray(-STDERR_TAIL_BYTES))
}

/** The program never ran: it is not there, a secret cannot be read, or the machine has no room. */
function notStarted(thrown: unknown): AttemptError {
  const error = attemptErrorFrom(thrown)
  if (error.class === 'SecretUnreadable') return ownError(error.class, error.message)
  const { code, syscall } = thrown as NodeJS.ErrnoException
  const why = code === 'ENOENT' && syscall?.startsWith('spawn') ? 'there is no such program' : error.message
  return ownError('CommandNotStarted', `the program could not be started: ${why}`)
}
