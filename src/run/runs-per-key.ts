/**
 * Concurrency keys: at most so many active runs for each key. What a model or a request may say, which key a run has by it, and what
 * becomes of a run whose key has no place left.
 *
 * This is not `concurrency` of a model, which limits how many runs one worker process executes at once.
 */

import { canonicalText, sha256 } from './canonical.ts'
import { isSensitiveName } from './redaction.ts'

export const KEY_MODES = ['queue', 'refuse', 'cancel_older'] as const
export const KEY_SCOPES = ['owner', 'everyone'] as const
export const RUNS_PER_KEY_MAX = 1_000
export const KEY_LENGTH_MAX = 255
/** Holders that a refusal names. */
export const HOLDERS_MAX = 10

/** `queue`: wait for a place. `refuse`: be refused. `cancel_older`: cancel what came before, then start. */
export type KeyMode = (typeof KEY_MODES)[number]
export type KeyScope = (typeof KEY_SCOPES)[number]

/** The option of a model. `key` is a JSON pointer into the parameters, or, without a leading slash, the key itself. */
export type RunsPerKey = { key: string; limit?: number; mode?: KeyMode; scope?: KeyScope }

/** What a run asks for. `owner` is whose key it is, empty for one that all owners share. `isAsked`: by its request, not by its model. */
export type RunKey = { owner: string; key: string; limit: number; mode: KeyMode; isAsked?: true }

/** What the body of a request may say. */
export type AskedKey = { key: string; limit?: number | null | undefined; mode?: KeyMode | null | undefined }

/** Null when the pointer of the model leads to nothing in these parameters: then nothing limits the run. */
export function keyByModel(model: { name: string; runsPerKey: RunsPerKey }, run: KeyedRun): RunKey | null {
  const { key, limit = 1, mode = 'queue', scope = 'owner' } = model.runsPerKey
  const text = key.startsWith('/') ? keyAt(model.name, key, run.parameters) : key
  return text === null ? null : { owner: scope === 'everyone' ? '' : run.owner, key: text, limit, mode }
}

export type KeyedRun = { owner: string; parameters: unknown }

export function keyByRequest({ key, limit, mode }: AskedKey, { owner }: KeyedRun): RunKey {
  return { owner, key, limit: limit ?? 1, mode: mode ?? 'queue', isAsked: true }
}

/**
 * The value names the key, together with model and place, so that two models that count by customer do not meet. Keys are shown, so a value
 * that is to be hidden, or that is long, is told by its hash.
 */
function keyAt(model: string, pointer: string, parameters: unknown): string | null {
  const value = valueAt(parameters, pointer)
  if (value === undefined || value === null || value === '') return null
  const whole = `${model}${pointer}=${typeof value === 'string' ? value : canonicalText(value)}`
  const isHidden = pointer.split('/').some((name) => isSensitiveName(name))
  if (whole.length <= KEY_LENGTH_MAX && !isHidden && isKey(whole)) return whole
  return `${model}${pointer}#${sha256(whole)}`.slice(-KEY_LENGTH_MAX)
}

function valueAt(from: unknown, pointer: string): unknown {
  let value = from
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

const NAMES = ['key', 'limit', 'mode', 'scope']

/** What is wrong with the option, each with the name at fault; null for the option as a whole. */
export function runsPerKeyProblems(given: unknown): { name: string | null; detail: string }[] {
  if (given === undefined) return []
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return [{ name: null, detail: 'must be an object with a key' }]
  }
  const { key, limit, mode, scope } = given as Record<string, unknown>
  const problems: { name: string | null; detail: string }[] = Object.keys(given)
    .filter((name) => !NAMES.includes(name))
    .map((name) => ({ name: null, detail: `has no option ${name}; there are ${NAMES.join(', ')}` }))
  if (!isKey(key)) {
    const detail = `must be a JSON pointer into the parameters, such as /customer, or a text of 1 to ${KEY_LENGTH_MAX} characters`
    problems.push({ name: 'key', detail })
  }
  if (
    limit !== undefined &&
    !(Number.isInteger(limit) && (limit as number) >= 1 && (limit as number) <= RUNS_PER_KEY_MAX)
  ) {
    problems.push({ name: 'limit', detail: `must be a whole number from 1 to ${RUNS_PER_KEY_MAX}` })
  }
  if (mode !== undefined && !KEY_MODES.includes(mode as KeyMode)) {
    problems.push({ name: 'mode', detail: `must be one of ${KEY_MODES.join(', ')}` })
  }
  if (scope !== undefined && !KEY_SCOPES.includes(scope as KeyScope)) {
    problems.push({ name: 'scope', detail: `must be one of ${KEY_SCOPES.join(', ')}` })
  }
  return problems
}

/** Postgres has no place for a NUL or half a character in a text. */
export function isKey(key: unknown): key is string {
  if (typeof key !== 'string' || key.length < 1 || key.length > KEY_LENGTH_MAX) return false
  if (key.includes('\u0000') || !key.isWellFormed()) return false
  return !key.startsWith('/') || !/~(?![01])/.test(key)
}

/** What is known of a key under its lock: runs that have a place, and how many are in line for one. */
export type KeyUse = { active: number; waiting: number }

export type Place = 'take' | 'wait' | 'refuse'

/** Nobody who can wait overtakes: a place that those in line have not got yet is theirs, also where the newcomer has a higher limit. */
export function placeFor({ limit, mode }: Pick<RunKey, 'limit' | 'mode'>, { active, waiting }: KeyUse): Place {
  if (mode === 'refuse') return active + waiting < limit ? 'take' : 'refuse'
  return waiting === 0 && active < limit ? 'take' : 'wait'
}
