/**
 * One attempt, from lease to settled: resolve → execute → classify → keep the result → settle → announce.
 *
 * Most short work is over in the turn it began. `begin` answers its settlement at once, so that its worker can settle all that a claim brought
 * together and announce them (`announce`); for everything else `finish` goes on.
 *
 * The attempt is the only licence to write about its run, and only through settle, which the lease epoch guards. When the lease is lost
 * the work is aborted and nothing is written. A settle that cannot reach the database is repeated until it is answered: the
 * epoch makes a repeat harmless, and an expired lease alone takes nothing from its holder.
 *
 * Work that an engine has outlives its worker. When the lease is lost or the worker stops, such work is let go of: it goes on, nothing is written, and
 * whoever holds the lease next adopts it.
 */

import type {
  AbortReason,
  Artifact,
  AttemptInput,
  AttemptReports,
  Executor,
  ExternalRef,
  Handle,
  Outcome,
} from '../executor/executor.ts'
import { foundIn } from '../run/facets.ts'
import { settledCost } from '../run/settled-cost.ts'
import type { Usage } from '../store/ports/attempts.ts'
import type { Lease, Settled, Settlement } from '../store/store.ts'
import { announceEnd } from './announce-end.ts'
import type { AttemptDeps } from './attempt-deps.ts'
import { AttemptRecord } from './attempt-record.ts'
import { AttemptSteps } from './attempt-steps.ts'
import { classify, type Verdict } from './classify.ts'
import { type EngineDeps, EngineLink } from './engine-link.ts'
import { followJob } from './follow-job.ts'
import { HiddenValues } from './hidden-values.ts'
import { type Kept, keepResult } from './keep-result.ts'
import { leaseFields } from './lease-fields.ts'
import type { Staging } from './stage-files.ts'
import { untilAnswered } from './until-answered.ts'

/** `remainingSeconds`: until the deadline of the attempt. */
export type AdoptedJob = { externalRef: ExternalRef; remainingSeconds: number }

export class Attempt implements AttemptReports {
  readonly lease: Lease
  readonly #deps: AttemptDeps
  #asked: AbortReason | null = null
  #executor: Executor | undefined
  #handle: Handle | undefined
  #givenUp = false
  #hiddenValues: HiddenValues | null = null
  #record: AttemptRecord | null = null
  readonly #takenAt = performance.now()
  #letGo: ((outcome: Outcome) => void) | null = null
  readonly #adopted: AdoptedJob | null
  #link: EngineLink | null = null
  #staging: Staging | null = null
  #filesGone: Promise<void> | undefined
  #steps: AttemptSteps | null = null
  #isSettled = false
  #cost: number | null = null
  #isPlacing = true
  #begun: Handle | Promise<Handle> | undefined
  /** The end of work that was over at once. */
  #kept: Settlement | null | Promise<Settlement | null> | undefined

  /** `adopted`: the job of an earlier holder of the lease, to go on with. */
  constructor(lease: Lease, deps: AttemptDeps, adopted: AdoptedJob | null = null) {
    this.lease = lease
    this.#deps = deps
    this.#adopted = adopted
  }

  /** Whether its executor has not taken it yet. */
  get isPlacing(): boolean {
    return this.#isPlacing
  }

  /** Whether the worker stopped and left the work to whoever adopts it. */
  get isLetGo(): boolean {
    return this.isElsewhere && this.#asked === 'shutdown' && !this.#isSettled
  }

  /** Whether an engine has the work, which then outlives this worker. */
  get isElsewhere(): boolean {
    return this.#link !== null && this.#link.ref !== null
  }

  /** Resolves when the attempt is over and its slot free; never rejects. */
  run(): Promise<void> {
    const settlement = this.begin()
    return settlement ? this.settle(settlement) : this.finish()
  }

  /** Answers the settlement of work that is over already and has nothing else to be written; null when `finish` is to go on. */
  begin(): Settlement | null {
    try {
      const begun = this.#submit()
      this.#begun = begun
      if (begun instanceof Promise || !begun.ended || this.#staging) return null
      this.#isPlacing = false
      const kept = this.#endWith(begun.ended)
      const hasMore = this.#record !== null || this.#steps !== null || this.#link !== null
      if (kept !== null && !(kept instanceof Promise) && !hasMore) return kept
      this.#kept = kept
    } catch (error) {
      this.#kept = Promise.reject(error)
    }
    return null
  }

  /** Resolves when the attempt is over and its slot free; never rejects. */
  async finish(): Promise<void> {
    try {
      const settlement = this.#kept === undefined ? await this.#work() : await this.#kept
      if (this.#asked === 'lease-lost') this.#record?.drop()
      else if (this.#record) await this.#record.write(settlement !== null)
      if (this.#steps) {
        await this.#steps.end(this.#asked !== 'lease-lost' && settlement !== null && settlement.kind !== 'succeed')
      }
      if (settlement) await this.settle(settlement)
    } catch (error) {
      this.#endedUnexpectedly(error)
    }
    this.#link?.close()
    if (this.#staging) await (this.#filesGone ?? this.#staging.remove())
  }

  /** Settles until it is answered. `failure`: why it could not be settled already. Never rejects. */
  async settle(settlement: Settlement, failure?: Error): Promise<void> {
    const { store } = this.#deps
    this.#isSettled = true
    try {
      const settled = await this.#told(() => store.settle(settlement), 'could not settle; trying again', failure)
      this.announce(settlement, settled)
    } catch (error) {
      this.#endedUnexpectedly(error)
    }
  }

  /** Asks the work to stop. The first reason stays, except that a lost lease overrules all others. */
  abort(reason: AbortReason): void {
    if (this.#asked === 'lease-lost' || (this.#asked !== null && reason !== 'lease-lost')) return
    this.#asked = reason
    if (reason === 'lease-lost') {
      this.#deps.metrics.leasesLost.inc()
      this.#log('warn', 'lease lost; the work is stopped and nothing more is written', 'RUNNING')
    }
    this.#staging?.abort()
    if (this.#executor && this.#handle) void this.#executor.cancel(this.#handle, reason, this.#graceMs(reason))
    if (isLetGo(reason)) this.#letGo?.(leftBy(reason))
  }

  /** No more settle retries: the process is ending and the lease will lapse. */
  giveUp(): void {
    this.#givenUp = true
  }

  #graceMs(reason: AbortReason): number {
    // The next holder may start as soon as the lease ends, so lost work gets no time to tidy up.
    return reason === 'lease-lost' ? 0 : this.#deps.cancelGraceMs
  }

  #submit(): Handle | Promise<Handle> {
    const { lease } = this
    const notStarted = (errorClass: string, message: string): Handle => {
      const ended: Outcome = { status: 'failed', error: { class: errorClass, message, stack: null } }
      return { runId: lease.runId, attempt: lease.attempt, ended }
    }
    const executor = this.#deps.executorOf(lease.executor)
    if (!executor) return notStarted('ExecutorNotFound', `this worker has no executor named ${lease.executor}`)
    const couldNot = (error: Error) => notStarted('ExecutorFailed', error.message)
    this.#executor = executor
    if (executor.adopt && this.#deps.engines) this.#link = this.#linkTo(this.#deps.engines)
    // An adopted job is asked for where it is watched: that it cannot be asked for now ends nothing.
    if (this.#adopted) return { runId: lease.runId, attempt: lease.attempt }
    // Work in an engine gets its files by itself.
    this.#staging = executor.adopt ? null : (this.#deps.stageFiles?.begin(lease) ?? null)
    try {
      const begun = this.#staging
        ? this.#staging.handTo((files) => executor.submit({ ...this.#input(), ...files }, this))
        : executor.submit(this.#input(), this)
      return begun instanceof Promise ? begun.catch(couldNot) : begun
    } catch (error) {
      return couldNot(error as Error)
    }
  }

  async #work(): Promise<Settlement | null> {
    const handle = await this.#begun!
    this.#isPlacing = false
    const outcome = handle.ended ?? (await this.#watch(handle))
    this.#filesGone = this.#staging?.remove()
    return this.#endWith(outcome)
  }

  #endWith(outcome: Outcome): Settlement | null | Promise<Settlement | null> {
    if ('cost' in outcome) this.#cost = outcome.cost ?? null
    return this.#settlementOf(this.#classify(outcome))
  }

  #endedUnexpectedly(error: unknown): void {
    this.#deps.log.error({ err: error, ...this.#fields('RUNNING') }, 'attempt ended unexpectedly; its lease will lapse')
  }

  #input(): AttemptInput {
    const { lease } = this
    const remainingSeconds = this.#adopted?.remainingSeconds ?? lease.timeoutSeconds
    return {
      runId: lease.runId,
      attempt: lease.attempt,
      model: lease.model,
      modelVersion: lease.modelVersion,
      parameters: lease.parameters,
      seed: lease.seed,
      timeoutMs: remainingSeconds * 1_000,
      alone: lease.reclaimCount > 0,
      owner: lease.owner,
      payloadHash: lease.payloadHash,
    }
  }

  /** Work that was over before it could be watched is told of by its end alone. */
  #watch(handle: Handle): Promise<Outcome> {
    const executor = this.#executor!
    this.#log('info', this.#adopted ? 'run adopted' : 'run started', 'RUNNING')
    if (this.#link) return this.#follow(executor, this.#adopted ? null : handle, this.#link)
    this.#hold(handle)
    return executor.watch(handle)
  }

  /** From here on the work can be asked to stop; what was asked before is passed on. */
  #hold(handle: Handle): void {
    this.#handle = handle
    const asked = this.#asked
    if (asked) void this.#executor!.cancel(handle, asked, this.#graceMs(asked))
  }

  #follow(executor: Executor, handle: Handle | null, link: EngineLink): Promise<Outcome> {
    if (handle) this.#hold(handle)
    const left = Promise.withResolvers<Outcome>()
    this.#letGo = left.resolve
    if (this.#asked && isLetGo(this.#asked)) left.resolve(leftBy(this.#asked))
    return followJob({
      handle,
      ref: () => link.ref,
      adopt: async (ref) => {
        const input = this.#input()
        const timeoutMs = Math.max(0, input.timeoutMs - (performance.now() - this.#takenAt))
        const adopted = await executor.adopt!({ ...input, timeoutMs }, ref, this)
        if (!adopted.ended) this.#hold(adopted)
        return adopted
      },
      watch: (held) => executor.watch(held),
      jobOutcome: () => link.jobOutcome(),
      left: left.promise,
      onTrouble: (reason) =>
        this.#deps.log.warn({ reason, ...this.#fields('RUNNING') }, 'the engine cannot tell; asking again'),
    })
  }

  #linkTo(engines: EngineDeps): EngineLink {
    return new EngineLink(this.lease, engines, {
      ref: this.#adopted?.externalRef ?? null,
      onLost: () => this.abort('lease-lost'),
    })
  }

  // What the executor reports. These are methods of the attempt itself, since most attempts report nothing and an object for it would
  // cost each of them.

  progress(value: unknown): void {
    this.#deps.saveProgress(this.lease, value)
  }

  log(level: Parameters<AttemptReports['log']>[0], message: string, fields?: Record<string, unknown>): void {
    this.#deps.log[level]({ ...fields, ...this.#fields('RUNNING') }, this.#hidden.hide(message))
    this.#recorded().print('log', `${level}: ${message}\n`)
  }

  output(stream: 'stdout' | 'stderr', text: string): void {
    this.#recorded().print(stream, text)
  }

  usage(usage: Usage): void {
    this.#recorded().use(usage)
  }

  cost(amount: number): void {
    this.#cost = amount
  }

  artifact(artifact: Artifact): void {
    this.#recorded().keep(artifact)
  }

  get engine(): EngineLink | undefined {
    return this.#link ?? undefined
  }

  get steps(): AttemptSteps | undefined {
    const { steps, workerId, results, log } = this.#deps
    if (this.#steps || !steps) return this.#steps ?? undefined
    this.#steps = new AttemptSteps(
      this.lease,
      { ...steps, workerId, results, log },
      {
        // What an attempt left behind may come too late by itself.
        onLost: () => !this.#isSettled && this.abort('lease-lost'),
        isStopped: () => this.#asked !== null || this.#givenUp,
        hide: (text) => this.#hidden.hide(text),
      },
    )
    return this.#steps
  }

  #recorded(): AttemptRecord {
    this.#record ??= new AttemptRecord(this.lease, this.#deps, {
      hidden: () => this.#hidden.texts,
      told: (ask, trouble) => this.#told(ask, trouble),
      warn: (error, message) => this.#deps.log.warn({ err: error, ...this.#fields('RUNNING') }, message),
    })
    return this.#record
  }

  #classify(outcome: Outcome): Verdict {
    const { lease } = this
    const policy = () => this.#deps.policyOf(lease.queue, this.#deps.definitionOf(lease.model, lease.modelVersion))
    return classify(outcome, { lease, policy, asked: this.#asked, random: (this.#deps.random ?? Math.random)() })
  }

  #settlementOf(verdict: Verdict): Settlement | null | Promise<Settlement | null> {
    const { runId, epoch, attempt, row } = this.lease
    const definition = this.#deps.definitionOf(this.lease.model, this.lease.modelVersion)
    const base = { runId, epoch, attempt, row, workerId: this.#deps.workerId, ...settledCost(definition, this.#cost) }
    if (verdict.kind === 'nothing') {
      this.#log('warn', `attempt left to its lease: ${verdict.why}`, 'RUNNING')
      return null
    }
    if (verdict.kind === 'succeed') {
      const found = definition && foundIn(verdict.resultText, definition)
      const settlementOfKept = (kept: Kept) => {
        if (kept.ok) return { ...base, kind: 'succeed' as const, result: kept.result, ...(found && { found }) }
        return this.#settlementOf(this.#classify({ status: 'failed', error: kept.error }))
      }
      const kept = keepResult(this.lease, verdict.resultText, definition?.volatile ?? [], this.#deps.results)
      return kept instanceof Promise ? kept.then(settlementOfKept) : settlementOfKept(kept)
    }
    const { error } = verdict
    return error ? { ...base, ...verdict, error: this.#hidden.hideInError(error) } : { ...base, ...verdict }
  }

  /** Most attempts say nothing, and none is made for them. */
  get #hidden(): HiddenValues {
    this.#hiddenValues ??= new HiddenValues(this.lease.parameters, this.#deps.redactWords)
    return this.#hiddenValues
  }

  /** Repeats it until the database has answered. */
  #told<Got>(ask: () => Promise<Got>, trouble: string, failure?: Error): Promise<Got> {
    const options = () => ({
      onFirstFailure: (error: unknown) => this.#deps.log.warn({ err: error, ...this.#fields('RUNNING') }, trouble),
      isGivenUp: () => this.#givenUp,
    })
    return untilAnswered(ask, options, failure)
  }

  /** Never throws: what goes wrong here must not keep others that were settled with it from being freed. */
  announce(settlement: Settlement, settled: Settled): void {
    try {
      announceEnd(this.#deps, { lease: this.lease, settlement, settled, durationSeconds: this.#durationSeconds() })
    } catch (error) {
      const fields = this.#fields(settled.status)
      this.#deps.log.error({ err: error, ...fields }, 'attempt settled, but its end could not be announced')
    }
  }

  /** Since the first start: earlier attempts by the database's clock, this one by a clock that never jumps. */
  #durationSeconds(): number {
    return Math.round(this.lease.startedSeconds * 1_000 + performance.now() - this.#takenAt) / 1_000
  }

  #fields(status: string) {
    return leaseFields(this.lease, this.#deps.workerId, status)
  }

  #log(level: 'info' | 'warn', message: string, status: string): void {
    this.#deps.log[level](this.#fields(status), message)
  }
}

/** Why a worker leaves the work of an engine as it is. */
function isLetGo(reason: AbortReason): boolean {
  return reason === 'lease-lost' || reason === 'shutdown'
}

function leftBy(reason: AbortReason): Outcome {
  return { status: 'unreachable', reason: `the worker let go of it (${reason})` }
}
