/** What a request says beside the parameters, as it is typed into fields, and the request that comes of it. */

import type { Run, SubmitOptions } from '@holdfast/client'
import { readNumber } from './number-text.ts'
import { hasMarker } from './secrets.ts'
import type { JsonObject } from './value-path.ts'

/** Texts as typed; an empty one leaves the choice to the model and the service. */
export type OptionTexts = {
  title: string
  tags: string[]
  queue: string
  priority: string
  /** Local time as an input of the browser has it: `2030-01-31T08:00`. */
  availableAt: string
  maxAttempts: string
  timeoutSeconds: string
  executor: string
  dedupe: string
  concurrencyKey: string
  concurrencyLimit: string
  concurrencyMode: string
  batchId: string
}

export const NO_OPTIONS: OptionTexts = {
  title: '',
  tags: [],
  queue: '',
  priority: '',
  availableAt: '',
  maxAttempts: '',
  timeoutSeconds: '',
  executor: '',
  dedupe: '',
  concurrencyKey: '',
  concurrencyLimit: '',
  concurrencyMode: '',
  batchId: '',
}

export type Request = {
  model: string
  version: string
  parameters: JsonObject
  options: OptionTexts
  key: string
  /** The run that the markers among the parameters stand for. */
  from: string | null
}

/** What a run was submitted with, for one like it. What is the model's own is left to the model. */
export function optionsOfRun(run: Run, model: { queue: string; priority: number }): OptionTexts {
  return {
    ...NO_OPTIONS,
    title: run.title ?? '',
    tags: run.tags,
    queue: run.queue === model.queue ? '' : run.queue,
    priority: run.priority === model.priority ? '' : String(run.priority),
  }
}

/** For the client. What is not a number where one belongs goes as it is: the service says so at the field. */
export function submitOptions({ version, parameters, options, key, from }: Request): SubmitOptions {
  const texts = (text: string) => (text.trim() === '' ? undefined : text.trim())
  const given = {
    modelVersion: version,
    derivedFrom: from !== null && hasMarker(parameters) ? from : undefined,
    idempotencyKey: key,
    title: texts(options.title),
    tags: options.tags.length === 0 ? undefined : options.tags,
    queue: texts(options.queue),
    priority: readNumber(options.priority),
    availableAt: momentOf(options.availableAt),
    maxAttempts: readNumber(options.maxAttempts),
    timeoutSeconds: readNumber(options.timeoutSeconds),
    executor: texts(options.executor),
    dedupe: texts(options.dedupe),
    concurrency: concurrencyOf(options),
    batchId: texts(options.batchId),
  }
  return withoutUndefined(given) as SubmitOptions
}

/** The same as the body of `POST /runs`. */
export function requestBody(request: Request): JsonObject {
  const { modelVersion, derivedFrom, idempotencyKey, availableAt, maxAttempts, timeoutSeconds, batchId, ...rest } =
    submitOptions(request)
  return withoutUndefined({
    model: request.model,
    model_version: modelVersion,
    parameters: request.parameters,
    derived_from: derivedFrom,
    idempotency_key: idempotencyKey,
    ...rest,
    available_at: availableAt,
    max_attempts: maxAttempts,
    timeout_seconds: timeoutSeconds,
    batch_id: batchId,
  })
}

/** Two requests that mean the same, whatever their keys. */
export function fingerprint(request: Request): string {
  return JSON.stringify(requestBody({ ...request, key: '' }))
}

function concurrencyOf({ concurrencyKey: key, concurrencyLimit, concurrencyMode }: OptionTexts) {
  if (key.trim() === '') return undefined
  return withoutUndefined({ key: key.trim(), limit: readNumber(concurrencyLimit), mode: concurrencyMode || undefined })
}

/** Local time, as ISO 8601 in UTC; what is no time goes as it is. */
function momentOf(local: string): string | undefined {
  if (local === '') return undefined
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? local : at.toISOString()
}

function withoutUndefined(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
}
