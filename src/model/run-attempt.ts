/**
 * One attempt of a model's function, the same in the worker itself and in a pool child: find the model, check the parameters
 * again, call it, and turn whatever comes back into an outcome. Nothing user code does makes this throw or reject.
 *
 * A synchronous path gives its outcome at once and not as a promise: the inline executor lives from that.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { AbortReason, AttemptError, Outcome } from '../executor/executor.ts'
import { canonicalText, NotJson } from '../run/canonical.ts'
import { jsonPointer } from '../run/json-pointer.ts'
import { attemptErrorFrom, ownError } from './attempt-error.ts'
import { makeContext } from './context.ts'
import type { Model } from './model.ts'
import type { Registry } from './registry.ts'
import type { AttemptScope } from './scope.ts'

const ISSUES_SHOWN_MAX = 10

export function runAttempt(registry: Registry, scope: AttemptScope): Outcome | Promise<Outcome> {
  const { model: name, modelVersion, parameters } = scope.input
  const model = registry.find(name, modelVersion)
  if (model === undefined) return failed(noFunction(registry, name, modelVersion))
  try {
    const checked = model.parameters['~standard'].validate(parameters)
    if (!(checked instanceof Promise)) return callModel(model, scope, checked)
    return checked.then(
      (result) => callModel(model, scope, result),
      (thrown) => thrownOutcome(scope, thrown),
    )
  } catch (thrown) {
    return thrownOutcome(scope, thrown)
  }
}

function noFunction(registry: Registry, name: string, version: string): AttemptError {
  const declared = registry.specOf(name, version)
  if (!declared) return ownError('ModelNotOffered', `this worker does not offer the model ${name}@${version}`)
  const message = `the model ${name}@${version} has no function here to call: it runs on the executor ${declared.executor}`
  return ownError('ExecutorNotAllowed', message)
}

/** How an attempt ends that was told to stop and brought no result, wherever that was noticed. */
export function abortedOutcome(reason: AbortReason, timeoutMs: number, detail = ''): Outcome {
  if (reason !== 'timeout') return { status: 'cancelled' }
  return failed(ownError('Timeout', `the attempt took longer than its limit of ${timeoutMs / 1000} s${detail}`))
}

function callModel(
  model: Model,
  scope: AttemptScope,
  checked: StandardSchemaV1.Result<unknown>,
): Outcome | Promise<Outcome> {
  if (checked.issues) return failed(parametersRefused(checked.issues))
  try {
    const returned: unknown = model.run(checked.value, makeContext(scope, checked.value, isFinal(model)))
    if (!isThenable(returned)) return returnedOutcome(scope, returned)
    return Promise.resolve(returned).then(
      (result) => returnedOutcome(scope, result),
      (thrown) => thrownOutcome(scope, thrown),
    )
  } catch (thrown) {
    return thrownOutcome(scope, thrown)
  }
}

/** Another attempt after a step that failed for good is something a model has to ask for by name. */
function isFinal(model: Model): boolean {
  return model.definition.retry.retryOn?.includes('RetryError') !== true
}

/** A result stands even when it comes after the signal: what was finished first wins, and the caller settles who that was. */
function returnedOutcome(scope: AttemptScope, result: unknown): Outcome {
  scope.end()
  try {
    return { status: 'succeeded', resultText: canonicalText(result) }
  } catch (thrown) {
    const why = thrown instanceof NotJson ? thrown.message : attemptErrorFrom(thrown).message
    return failed(ownError('ResultNotJson', `the result cannot be stored as JSON: ${why}`, { retryable: false }))
  }
}

/** What is thrown after the signal fired is the answer to the signal. */
function thrownOutcome(scope: AttemptScope, thrown: unknown): Outcome {
  scope.end()
  if (scope.abortReason === null) return failed(attemptErrorFrom(thrown))
  return abortedOutcome(scope.abortReason, scope.input.timeoutMs)
}

function parametersRefused(issues: readonly StandardSchemaV1.Issue[]): AttemptError {
  const shown = issues.slice(0, ISSUES_SHOWN_MAX).map(({ message, path = [] }) => {
    const steps = path.map((step) => String(typeof step === 'object' ? step.key : step))
    return `${jsonPointer(steps) || 'the parameters'}: ${message}`
  })
  const message = `the model's own schema refuses the parameters: ${shown.join('; ')}`
  return ownError('ParametersRefused', message, { retryable: false })
}

function failed(error: AttemptError): Outcome {
  return { status: 'failed', error }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as PromiseLike<unknown>).then === 'function'
}
