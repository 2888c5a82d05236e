/** The values of sensitive parameters, taken out of whatever an attempt says: code that fails likes to say with what. Looked for at first use. */

import type { AttemptError } from '../executor/executor.ts'
import { hiddenTexts, hideTexts } from '../run/redaction.ts'

export class HiddenValues {
  readonly #parameters: unknown
  readonly #words: readonly string[] | undefined
  #texts: string[] | null = null

  /** `words`: those that make the name of a parameter sensitive; the usual ones when not given. */
  constructor(parameters: unknown, words: readonly string[] | undefined) {
    this.#parameters = parameters
    this.#words = words
  }

  get texts(): string[] {
    this.#texts ??= hiddenTexts(this.#parameters, { words: this.#words })
    return this.#texts
  }

  hide(text: string): string {
    return hideTexts(text, this.texts)
  }

  hideInError(error: AttemptError): AttemptError {
    const stack = error.stack === null ? null : this.hide(error.stack)
    return { ...error, message: this.hide(error.message), stack }
  }
}
