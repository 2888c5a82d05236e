/** The worker's side of what a child asks about steps: passes it on, and turns what became of it into an answer. Never rejects. */

import { StepFailure } from '../run/step-failure.ts'
import type { StepReports } from './executor.ts'
import type { FromChild, StepFailureRecord, Timed, ToChild } from './messages.ts'

export type StepRequest = Extract<FromChild, { type: 'steps-asked' | 'step' }>

export async function answerStep(message: StepRequest, steps: StepReports | undefined): Promise<ToChild> {
  const { id, request } = message
  try {
    if (message.type === 'steps-asked') return { type: 'answer', id, request, done: (await steps?.done()) ?? [] }
    await steps?.commit(withDate(message.step))
    return { type: 'answer', id, request }
  } catch (error) {
    return { type: 'answer', id, request, failure: recordOf(error as Error) }
  }
}

export function withDate<Of extends { startedAt: Date }>({ startedAtMs, ...rest }: Timed<Of>) {
  return { ...rest, startedAt: new Date(startedAtMs) } as Omit<Timed<Of>, 'startedAtMs'> & { startedAt: Date }
}

function recordOf(error: Error): StepFailureRecord {
  const { name, message } = error
  return { class: name, message, isFinal: error instanceof StepFailure && error.isFinal }
}
