/**
 * The kinds of values a setting can have: each reads the text of an environment variable and refuses with a sentence
 * that tells the cure. Messages never repeat the text of a value that may hold a password.
 */

import { z } from 'zod'

export function integer(min: number, max: number) {
  const wanted = `must be a whole number from ${min} to ${max}`
  return z
    .string()
    .regex(/^-?\d{1,15}$/, wanted)
    .transform(Number)
    .refine((value) => value >= min && value <= max, wanted)
}

/** Seconds, fractions allowed. */
export function seconds(min: number, max: number) {
  const wanted = `must be a number of seconds from ${min} to ${max}, e.g. ${Math.max(min, 1)}`
  return z
    .string()
    .regex(/^\d{1,12}(\.\d{1,6})?$/, wanted)
    .transform(Number)
    .refine((value) => value >= min && value <= max, wanted)
}

export function oneOf<const T extends string>(words: readonly T[]) {
  return z.enum(words, `must be one of ${words.join(', ')}`)
}

export function plainText() {
  return z.string()
}

/** Entries between commas; spaces around them and empty entries do not matter. */
export function list(entry: RegExp, wanted: string) {
  return z
    .string()
    .transform(entries)
    .refine((parts) => parts.every((part) => entry.test(part)), wanted)
}

export function secondsList(max: number) {
  const wanted = `must be numbers of seconds from 0 to ${max} between commas, e.g. 5,20,60`
  return list(/^\d{1,12}(\.\d{1,6})?$/, wanted)
    .transform((parts) => parts.map(Number))
    .refine((values) => values.length > 0 && values.every((value) => value <= max), wanted)
}

/** `protocols` as in `postgres:`. The message does not show the value: it may hold a password. */
export function url(protocols: readonly string[], example: string) {
  const wanted = `must be a URL such as ${example}`
  return z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), wanted)
}

/**
 * A queue to take runs from; `limit` is how many of its runs one worker executes at once, null for no limit of its
 * own.
 */
export type QueueSetting = { name: string; limit: number | null }

const QUEUE = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,99})(?::([1-9]\d{0,5}))?$/

/** The grammar of HOLDFAST_QUEUES and of `--queues`: `default,gpu:2`. */
export function queues() {
  return z
    .string()
    .transform(entries)
    .refine(
      (parts) => parts.length > 0 && parts.every((part) => QUEUE.test(part)),
      'must be queue names between commas, each with an optional limit, e.g. default,gpu:2',
    )
    .transform((parts) => parts.map(toQueue))
    .refine((found) => new Set(found.map(({ name }) => name)).size === found.length, 'must name each queue only once')
}

function toQueue(text: string): QueueSetting {
  const [, name = '', limit] = QUEUE.exec(text) ?? []
  return { name, limit: limit === undefined ? null : Number(limit) }
}

export type NamedText = { name: string; text: string }

const NAMED = /^([A-Za-z0-9][A-Za-z0-9_-]{0,62})=(.+)$/

/** Entries `name=text` between commas, each name once. */
export function namedTexts(example: string) {
  const wanted = `must be names and values between commas, e.g. ${example}`
  return z
    .string()
    .transform(entries)
    .refine((parts) => parts.every((part) => NAMED.test(part)), wanted)
    .transform((parts) => parts.map(toNamed))
    .refine((found) => new Set(found.map(({ name }) => name)).size === found.length, 'must use each name only once')
}

export function namedUrls(protocols: readonly string[], example: string) {
  return namedTexts(example).refine(
    (found) => found.every(({ text }) => URL.canParse(text) && protocols.includes(new URL(text).protocol)),
    `must be names and URLs between commas, e.g. ${example}`,
  )
}

function toNamed(part: string): NamedText {
  const [, name = '', text = ''] = NAMED.exec(part) ?? []
  return { name, text }
}

/** `cluster` is null for the default one. */
export type RayPoolSetting = { queue: string; actors: number; cluster: string | null }

const RAY_POOL = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,99}):([1-9]\d{0,3})(?:@([A-Za-z0-9][A-Za-z0-9_-]{0,62}))?$/

/** The grammar of HOLDFAST_RAY_POOLS: `default:4,gpu:2@gpu`. */
export function rayPools() {
  return z
    .string()
    .transform(entries)
    .refine(
      (parts) => parts.every((part) => RAY_POOL.test(part)),
      'must be queues with a number of actors, e.g. default:4,gpu:2@gpu',
    )
    .transform((parts) => parts.map(toRayPool))
    .refine((found) => new Set(found.map(({ queue }) => queue)).size === found.length, 'must name each queue only once')
}

function toRayPool(part: string): RayPoolSetting {
  const [, queue = '', actors, cluster = null] = RAY_POOL.exec(part) ?? []
  return { queue, actors: Number(actors), cluster }
}

function entries(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
