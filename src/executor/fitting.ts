/**
 * Looks at an attempt before it is handed to an executor: the worker must know the model, the model must allow this executor, and the
 * parameters of a model that has no function of its own to check them must still fit its schema. The API accepted them from
 * the definition that was registered then; here is the one that will be run.
 */

import { ownError } from '../model/attempt-error.ts'
import { checkParameters } from '../model/parameter-check.ts'
import { allowedExecutors } from '../run/allowed-executors.ts'
import type { ModelDefinition } from '../run/definition.ts'
import type { AttemptError, AttemptInput, Executor, Handle } from './executor.ts'

export type SpecOf = (model: string, version: string) => ModelDefinition | undefined

const ERRORS_SHOWN_MAX = 10

/** The same executor, which refuses attempts that do not fit; refused ones are over at once. */
export function fitting(executor: Executor, specOf: SpecOf): Executor {
  return {
    name: executor.name,
    submit: (input, reports) => {
      const error = whyNot(executor.name, input, specOf(input.model, input.modelVersion))
      return error ? refused(input, error) : executor.submit(input, reports)
    },
    watch: async (handle) => handle.ended ?? executor.watch(handle),
    cancel: async (handle, reason, graceMs) => {
      if (!handle.ended) await executor.cancel(handle, reason, graceMs)
    },
    // A job that runs already is gone on with, whatever its model says by now.
    ...(executor.adopt && { adopt: executor.adopt.bind(executor) }),
    ...(executor.room && { room: executor.room.bind(executor) }),
    stop: () => executor.stop(),
  }
}

function whyNot(executor: string, input: AttemptInput, spec: ModelDefinition | undefined): AttemptError | null {
  const { model, modelVersion, parameters } = input
  if (!spec) return ownError('ModelNotOffered', `this worker does not offer the model ${model}@${modelVersion}`)
  const allowed = allowedExecutors(spec)
  if (!allowed.includes(executor)) {
    const message = `the model ${model}@${modelVersion} does not run on the executor ${executor}: it allows ${allowed.join(', ')}`
    return ownError('ExecutorNotAllowed', message)
  }
  if (isFunction(spec)) return null
  const check = checkParameters(spec.parametersSchema, parameters)
  if (check.ok) return null
  const shown = check.errors.slice(0, ERRORS_SHOWN_MAX).map(({ pointer, detail }) => `${pointer || 'they'} ${detail}`)
  const message = `the schema of the model refuses the parameters: ${shown.join('; ')}`
  return ownError('ParametersRefused', message, { retryable: false })
}

/** A model with a function checks its parameters itself, where it is called. */
function isFunction({ executor }: ModelDefinition): boolean {
  return executor === 'process' || executor === 'inline'
}

function refused({ runId, attempt }: AttemptInput, error: AttemptError): Handle {
  return { runId, attempt, ended: { status: 'failed', error } }
}
