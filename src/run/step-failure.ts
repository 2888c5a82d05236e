/**
 * What goes wrong with a step beside its own work: its name, its output, or keeping it. No try of the step is repeated for it.
 *
 * It says of itself whether another attempt may help, by the brands that errors of models carry.
 */

export const FATAL = Symbol.for('holdfast.Fatal')
export const RETRYABLE = Symbol.for('holdfast.Retryable')
const STEP_FAILURE = Symbol.for('holdfast.StepFailure')

export class StepFailure extends Error {
  readonly [STEP_FAILURE] = true
  readonly isFinal: boolean

  /** `name` is the class that people see. */
  constructor(name: string, message: string, { isFinal, cause }: { isFinal: boolean; cause?: unknown }) {
    super(message, cause === undefined ? undefined : { cause })
    this.isFinal = isFinal
    Object.defineProperty(this, 'name', { value: name })
    Object.defineProperty(this, isFinal ? FATAL : RETRYABLE, { value: true })
  }
}

export function isStepFailure(thrown: unknown): boolean {
  return typeof thrown === 'object' && thrown !== null && STEP_FAILURE in thrown
}

/** The output is not durable: the next attempt does the step again. */
export function stepNotKept(name: string, why: string, cause?: unknown): StepFailure {
  const message = `the output of the step ${JSON.stringify(name)} could not be stored: ${why}`
  return new StepFailure('StepNotKept', message, { isFinal: false, cause })
}
