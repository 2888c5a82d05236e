/**
 * The steps of an attempt in a child: what is asked of the worker is answered by a message of its own. How steps stand is told late and
 * only as it is by then, so that an attempt of many short steps sends little of it.
 */

import { StepFailure } from '../run/step-failure.ts'
import type { CommittedStep, DoneStep, StepReports, StepState } from './executor.ts'
import type { FromChild, ToChild } from './messages.ts'

const STATES_INTERVAL_MS = 250

type Answer = Extract<ToChild, { type: 'answer' }>

export class ChildSteps implements StepReports {
  readonly #id: number
  readonly #send: (message: FromChild) => void
  readonly #open = new Map<number, PromiseWithResolvers<Answer>>()
  #lastRequest = 0
  #states: StepState[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(id: number, send: (message: FromChild) => void) {
    this.#id = id
    this.#send = send
  }

  async done(): Promise<DoneStep[]> {
    return (await this.#ask((request) => ({ type: 'steps-asked', id: this.#id, request }))).done ?? []
  }

  async commit({ startedAt, ...rest }: CommittedStep): Promise<void> {
    const step = { ...rest, startedAtMs: startedAt.getTime() }
    await this.#ask((request) => ({ type: 'step', id: this.#id, request, step }))
  }

  states(states: StepState[]): void {
    this.#states = states
    this.#timer ??= setTimeout(() => this.#tell(), STATES_INTERVAL_MS)
  }

  receive(answer: Answer): void {
    const { request, failure } = answer
    const open = this.#open.get(request)
    this.#open.delete(request)
    if (!failure) open?.resolve(answer)
    else open?.reject(new StepFailure(failure.class, failure.message, { isFinal: failure.isFinal }))
  }

  /** Before the end of the attempt: what has not ended well, or was told otherwise before. */
  flush(): void {
    if (this.#timer !== undefined && this.#states.some(({ state }) => state === 'FAILED')) this.#tell()
    clearTimeout(this.#timer)
  }

  #tell(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const states = this.#states.map(({ startedAt, ...rest }) => ({ ...rest, startedAtMs: startedAt.getTime() }))
    this.#send({ type: 'step-states', id: this.#id, states })
  }

  #ask(message: (request: number) => FromChild): Promise<Answer> {
    const request = ++this.#lastRequest
    const answer = Promise.withResolvers<Answer>()
    this.#open.set(request, answer)
    this.#send(message(request))
    return answer.promise
  }
}
