/** Finds the model a request names; when there is none, the refusal helps to find the right name. */

import type { SubmitBody } from '../contract/submit.ts'
import type { ModelDefinition } from '../run/definition.ts'
import { Refusal } from '../run/errors.ts'
import { nearestNames } from '../run/nearest.ts'
import type { Store } from '../store/store.ts'
import type { Known } from './known.ts'

const NEAREST_MAX = 3

export async function findModelOrRefuse(body: SubmitBody, known: Known, store: Store): Promise<ModelDefinition> {
  const found = await known.model(body.model, body.model_version ?? null)
  if (found) return found.definition
  const newest = body.model_version ? await known.model(body.model, null) : null
  if (newest) throw unknownVersion(body, newest.definition.version)
  throw unknownModel(body.model, await store.listModelNames())
}

export function unknownModel(name: string, names: string[]): Refusal {
  const nearest = nearestNames(name, names, NEAREST_MAX)
  const hint =
    names.length === 0
      ? 'no worker has registered a model yet'
      : nearest.length > 0
        ? `the nearest ${nearest.length > 1 ? 'are' : 'is'} ${nearest.join(', ')}`
        : `registered are ${names.slice(0, NEAREST_MAX).join(', ')}${names.length > NEAREST_MAX ? ', …' : ''}`
  return new Refusal('unknown-model', `There is no model ${JSON.stringify(name)}: ${hint}.`, {
    errors: [{ pointer: '/model', detail: hint }],
    extra: { nearest },
  })
}

export function unknownVersion(
  { model, model_version: asked }: Pick<SubmitBody, 'model' | 'model_version'>,
  newest: string,
): Refusal {
  const hint = `the newest registered version is ${newest}`
  return new Refusal('unknown-model-version', `The model ${model} has no version ${JSON.stringify(asked)}: ${hint}.`, {
    errors: [{ pointer: '/model_version', detail: hint }],
    extra: { newest_version: newest },
  })
}
