/**
 * From a finished run to the new run that retries it: the same true parameters, model, version, queue, priority, tags, title, batch, owner
 * and, where its request asked for one, concurrency key. Everything else (attempts, timeout, executor) is what the model says today, so
 * that a repaired model is retried as repaired.
 *
 * While a retry is active the store answers with it instead of making another one: the new run holds the name of the old one.
 */

import type { SubmitBody } from '../contract/submit.ts'
import { canonicalText } from '../run/canonical.ts'
import { Refusal } from '../run/errors.ts'
import { takesFiles } from '../run/file-parameters.ts'
import { isTerminal } from '../run/status.ts'
import type { NewRun, QueueState, Run, Store } from '../store/store.ts'
import type { ApiConfig } from './api.ts'
import type { Known } from './known.ts'
import { resolveRun, type Sender } from './resolve-run.ts'
import type { ResolvedRun } from './run-files.ts'

export type ResolveRetry = (id: string, original: Run, sender: Omit<Sender, 'owner'>) => Promise<ResolvedRun>

export type RetryDeps = { known: Known; config: ApiConfig; store: Pick<Store, 'files' | 'blocks'> }

/** What it returns throws a Refusal when the run has not ended, or cannot be run as it was. */
export function createResolveRetry({ known, config, store }: RetryDeps): ResolveRetry {
  return async (id, original, sender) => {
    if (!isTerminal(original.status)) throw notFinished(original)
    const model = (await known.model(original.model, original.modelVersion))?.definition
    if (!model) throw notRegistered(original)
    const body: SubmitBody = {
      model: original.model,
      model_version: original.modelVersion,
      parameters: original.parameters as Record<string, unknown>,
      queue: original.queue,
      priority: original.priority,
      tags: original.tags,
      title: original.title,
      batch_id: original.batchId,
      // A model that has got keys of its own meanwhile decides alone.
      concurrency: model.runsPerKey ? null : await store.blocks.askedKey(original.id),
    }
    const around = { model, queues: withQueue(await known.queues(), original.queue), config, nowMs: Date.now() }
    const run = resolveRun(id, body, { ...sender, owner: original.owner }, around)
    // The files are part of the input: nobody asks whether the owner still has them.
    const files = takesFiles(model) ? await store.files.ofRun(original.id) : []
    return {
      ...run,
      ...inputOf(original),
      ...(files.length > 0 && { files }),
      slot: null,
      retryOf: original.id,
    } as ResolvedRun
  }
}

/** Word for word, also when the model has got new defaults since: the retry has the same payload hash, hence the same seed. */
function inputOf({ parameters, payloadHash, seed }: Run): Partial<NewRun> {
  return { parameters, parametersText: canonicalText(parameters), payloadHash, seed }
}

/** The queue was good enough for the original, whether or not a worker serves it today. */
function withQueue(queues: Map<string, QueueState>, queue: string): Map<string, QueueState> {
  return queues.has(queue) ? queues : new Map([...queues, [queue, { queue, paused: false, retry: {} }]])
}

function notFinished({ id, status }: Run): Refusal {
  return new Refusal('run-not-finished', `The run ${id} is ${status}; it can be retried when it has ended.`, {
    extra: { run_status: status },
  })
}

function notRegistered({ model, modelVersion }: Run): Refusal {
  return new Refusal('model-not-registered', `The model ${model} has no registered version ${modelVersion} any more.`)
}
