/**
 * The steps of one attempt, on their way between its executor and the store.
 *
 * "Kept" is said once the output is durable and the lease was still held then. While the database cannot be reached the step waits, as a
 * settle would; other trouble fails the attempt in a way that is retried. A lost lease stops the attempt.
 */

import type { CommittedStep, DoneStep, StepReports, StepState } from '../executor/executor.ts'
import { Refusal } from '../run/errors.ts'
import { StepFailure, stepNotKept } from '../run/step-failure.ts'
import { STEP_ITEMS_MAX, STEPS_MAX } from '../run/step-names.ts'
import type { HeldCommit, StepOutput, Steps, StoredStepState } from '../store/ports/steps.ts'
import type { Lease } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import { type KeepStepOutputOptions, keepStepOutput, StepOutputTooLarge } from './keep-step-output.ts'
import { readDoneSteps } from './read-done-steps.ts'
import type { StepStateWriter } from './step-states.ts'

export type AttemptStepsDeps = {
  workerId: string
  steps: Pick<Steps, 'commitHeld' | 'hasAny' | 'list'>
  results: KeepStepOutputOptions
  states: StepStateWriter
  log: Log
}

export type AttemptStepsOptions = {
  onLost: () => void
  /** Whether nobody waits for the attempt any more. */
  isStopped: () => boolean
  /** Takes sensitive values out of a text. */
  hide: (text: string) => string
}

const TRIES_MAX = 3
const RETRY_MS_MAX = 2_000
const STATES_MAX = 200

export class AttemptSteps implements StepReports {
  readonly lease: Lease
  readonly #deps: AttemptStepsDeps
  readonly #options: AttemptStepsOptions
  readonly #gone = new Set<string>()
  #states: StepState[] = []

  constructor(lease: Lease, deps: AttemptStepsDeps, options: AttemptStepsOptions) {
    this.lease = lease
    this.#deps = deps
    this.#options = options
  }

  async done(): Promise<DoneStep[]> {
    const { steps, results, log } = this.#deps
    const { runId } = this.lease
    try {
      if (!(await this.#asked(() => steps.hasAny(runId)))) return []
      const { done, gone } = await this.#asked(() => readDoneSteps({ steps, blob: results.blob, log }, runId))
      for (const name of gone) this.#gone.add(name)
      return done
    } catch (cause) {
      const message = `the steps that are done could not be read: ${(cause as Error).message}`
      throw new StepFailure('StepsNotRead', message, { isFinal: false, cause })
    }
  }

  async commit(step: CommittedStep): Promise<void> {
    const { steps, workerId } = this.#deps
    const { name, tries, startedAt, cpuSeconds, peakMemoryBytes } = step
    const output = await this.#kept(step)
    const fence = { ...this.#fence(), workerId }
    const limits = { steps: STEPS_MAX, items: STEP_ITEMS_MAX, bytes: this.#deps.results.maxBytes }
    const facts = { name, tries, startedAt, cpuSeconds, peakMemoryBytes, output }
    const verdict = await this.#asked(() => steps.commitHeld(fence, facts, limits)).catch((error: Error) => {
      throw stepNotKept(name, error.message, error)
    })
    if (verdict !== 'kept' && verdict !== 'repeated') await this.#notKept(name, output, verdict)
  }

  states(states: StepState[]): void {
    this.#states = states
    this.#deps.states.note(this)
  }

  /** As they are written: without secrets, and not more of them than anybody would read. */
  storedStates(): StoredStepState[] {
    return this.#states.slice(0, STATES_MAX).map(({ name, state, tries, startedAt, lastError, items }) => ({
      name,
      state,
      tries,
      started_at: startedAt.toISOString(),
      last_error: lastError && { class: lastError.class, message: this.#options.hide(lastError.message) },
      ...(items && { items: { ...items } }),
    }))
  }

  /** Before the attempt is settled. `isTold`: how the steps stand is what people will ask for. */
  async end(isTold: boolean): Promise<void> {
    if (isTold && this.#states.length > 0) await this.#deps.states.end(this)
    else this.#deps.states.forget(this)
  }

  async #kept({ name, outputText }: CommittedStep): Promise<StepOutput> {
    try {
      return await keepStepOutput(this.#deps.results, this.lease.runId, name, outputText)
    } catch (error) {
      if (!(error instanceof StepOutputTooLarge)) throw stepNotKept(name, (error as Error).message, error)
      const message = `the step ${JSON.stringify(name)} was not kept: ${error.message}`
      throw new StepFailure('StepOutputTooLarge', message, { isFinal: true })
    }
  }

  async #notKept(name: string, output: StepOutput, verdict: HeldCommit): Promise<void> {
    if (verdict === 'lost') {
      this.#options.onLost()
      throw new StepFailure('LeaseLost', `the lease was lost before the step ${JSON.stringify(name)} was kept`, {
        isFinal: false,
      })
    }
    // Nothing refers to its bytes. If they cannot be deleted now, they are found later.
    if (output.text === null) await this.#deps.results.blob.delete(output.ref).catch(() => {})
    if (verdict === 'full') {
      const most = `at most ${STEPS_MAX} steps and ${STEP_ITEMS_MAX} items of maps, with ${this.#deps.results.maxBytes} bytes of outputs together`
      const message = `the step ${JSON.stringify(name)} was not kept: a run has ${most} (HOLDFAST_RESULT_MAX_BYTES)`
      throw new StepFailure('StepLimit', message, { isFinal: true })
    }
    // The attempt after this one gets the output that is there.
    if (!this.#gone.has(name)) throw stepNotKept(name, 'the run has another output of it already')
    // The bytes of the first output are gone and this one differs: the work goes on with it, though it is not durable.
    this.#deps.log.warn({ run_id: this.lease.runId, step: name }, 'a step whose output was gone gave another one')
  }

  #fence() {
    const { runId, epoch, attempt } = this.lease
    return { runId, epoch, attempt }
  }

  async #asked<Got>(ask: () => Promise<Got>): Promise<Got> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await ask()
      } catch (error) {
        const isAway = error instanceof Refusal && error.code === 'database-unavailable'
        if (this.#options.isStopped() || (!isAway && tries >= TRIES_MAX)) throw error
        if (tries === 1)
          this.#deps.log.warn({ err: error, run_id: this.lease.runId }, 'could not ask about steps; trying again')
        await new Promise((resolve) => setTimeout(resolve, Math.min(RETRY_MS_MAX, 25 * 2 ** Math.min(tries, 8))))
      }
    }
  }
}
