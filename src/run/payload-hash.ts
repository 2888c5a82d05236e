/**
 * The identity of an input and of a result: SHA-256 (lowercase hex) of canonical JSON, without the fields a model
 * declares irrelevant.
 */

import { canonicalText, sha256 } from './canonical.ts'

/**
 * The hash of `{model, model_version, parameters}`; parameters must be normalised (defaults applied) before. Throws
 * `NotJson`.
 */
export function payloadHash(input: {
  model: string
  modelVersion: string
  parameters: unknown
  /** Their canonical text, from whoever has it already. */
  parametersText?: string
  /** Top-level parameter names left out of the hash. */
  ignoreInHash: readonly string[]
}): string {
  const { model, modelVersion, ignoreInHash, parametersText } = input
  const hasText = parametersText !== undefined && ignoreInHash.length === 0
  const parameters = hasText ? parametersText : canonicalText(withoutNames(input.parameters, ignoreInHash))
  return sha256(`${textOfModel(model, modelVersion)}${parameters}}`)
}

/** The runs of a batch are of one model as a rule, so its text is kept for the next one. */
let lastModel: { model: string; modelVersion: string; text: string } | null = null

/**
 * All that stands before the parameters. Put together by hand, so that they have the whole depth limit to themselves; the three names are
 * in canonical order.
 */
function textOfModel(model: string, modelVersion: string): string {
  if (lastModel?.model !== model || lastModel.modelVersion !== modelVersion) {
    const text = `{"model":${canonicalText(model)},"model_version":${canonicalText(modelVersion)},"parameters":`
    lastModel = { model, modelVersion, text }
  }
  return lastModel.text
}

/**
 * The hash of a result given as canonical text. Volatile names are left out; a dot reaches inside:
 * `metrics.runtime_seconds`.
 */
export function resultHash(resultText: string, volatile: readonly string[]): string {
  if (volatile.length === 0) return sha256(resultText)
  const result: unknown = JSON.parse(resultText)
  for (const name of volatile) dropName(result, name)
  return sha256(canonicalText(result))
}

function withoutNames(value: unknown, names: readonly string[]): unknown {
  if (names.length === 0 || !isObject(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))
}

/**
 * A name that holds a dot itself is found too: at each object the whole rest of the name is tried before its first
 * part.
 */
function dropName(value: unknown, name: string): void {
  if (!isObject(value)) return
  if (Object.hasOwn(value, name)) {
    delete value[name]
    return
  }
  const dot = name.indexOf('.')
  const first = name.slice(0, dot)
  if (dot !== -1 && Object.hasOwn(value, first)) dropName(value[first], name.slice(dot + 1))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
