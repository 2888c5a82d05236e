/**
 * The canonical JSON text of a value (RFC 8785) and its SHA-256: equal values give equal text whatever the order of
 * their keys.
 *
 * Like `JSON.stringify` it calls `toJSON`, leaves out undefined properties and writes undefined in an array as null.
 * Unlike it, it never drops or changes anything silently: what JSON cannot carry is refused with the place. Keys sort
 * by UTF-16 code units, also those that look like integers, which is why the writer is our own.
 */

import { hash } from 'node:crypto'
import { JSON_DEPTH_MAX } from './json.ts'
import { jsonPointer } from './json-pointer.ts'

export class NotJson extends Error {
  /** RFC 6901 pointer to the value at fault. */
  readonly pointer: string
  /** For a person, with the cure. */
  readonly reason: string

  constructor(pointer: string, reason: string) {
    super(`${reason} (at ${pointer === '' ? 'the top' : pointer})`)
    this.name = 'NotJson'
    this.pointer = pointer
    this.reason = reason
  }
}

export function canonicalize(value: unknown): { text: string; hash: string } {
  const text = canonicalText(value)
  return { text, hash: sha256(text) }
}

/** Throws `NotJson`. An undefined value is written as null. */
export function canonicalText(value: unknown): string {
  return write(value, '', { containers: [], steps: [] }, 0) ?? 'null'
}

/** Lowercase hex of the text's UTF-8 bytes. */
export function sha256(text: string): string {
  return hash('sha256', text, 'hex')
}

/**
 * The open containers from the outside in, and the step taken inside each; entries past the current depth are stale.
 */
type Trail = { containers: object[]; steps: (string | number)[] }

/** Undefined when the value is to be left out. */
function write(value: unknown, key: string, trail: Trail, depth: number): string | undefined {
  switch (typeof value) {
    case 'string':
      return writeString(value, trail, depth)
    case 'number':
      if (Number.isFinite(value)) return String(value)
      throw refusal(trail, depth, `${value} is no JSON number; use null or a string`)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'undefined':
      return undefined
    case 'object':
      return value === null ? 'null' : writeObject(value, key, trail, depth)
    case 'bigint':
      throw refusal(trail, depth, 'a bigint is no JSON value; use a number or a string')
    default:
      throw refusal(trail, depth, `a ${typeof value} is no JSON value; leave it out`)
  }
}

function writeObject(value: object, key: string, trail: Trail, depth: number): string | undefined {
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    const replaced: unknown = value.toJSON(key)
    if (typeof replaced !== 'object' || replaced === null) return write(replaced, key, trail, depth)
    return writeContainer(replaced, trail, depth)
  }
  return writeContainer(value, trail, depth)
}

function writeContainer(value: object, trail: Trail, depth: number): string {
  if (depth >= JSON_DEPTH_MAX) throw tooDeep(value, trail, depth)
  trail.containers[depth] = value
  if (Array.isArray(value)) return writeArray(value, trail, depth)
  if (isPlain(value)) return writePlainObject(value as Record<string, unknown>, trail, depth)
  const name = value.constructor?.name || 'object'
  throw refusal(trail, depth, `a ${name} is no plain object or array; convert it, or give it a toJSON method`)
}

function writeArray(array: readonly unknown[], trail: Trail, depth: number): string {
  let text = '['
  for (let index = 0; index < array.length; index++) {
    trail.steps[depth] = index
    if (index > 0) text += ','
    text += write(array[index], String(index), trail, depth + 1) ?? 'null'
  }
  return `${text}]`
}

function writePlainObject(object: Record<string, unknown>, trail: Trail, depth: number): string {
  let text = ''
  for (const key of sortedKeys(object)) {
    trail.steps[depth] = key
    const written = write(object[key], key, trail, depth + 1)
    if (written === undefined) continue
    text += `${text === '' ? '{' : ','}${writeString(key, trail, depth)}:${written}`
  }
  return text === '' ? '{}' : `${text}}`
}

function sortedKeys(object: object): string[] {
  const keys = Object.keys(object)
  for (let index = 1; index < keys.length; index++) {
    // The default order of sort, and of < on strings, is by UTF-16 code units.
    if ((keys[index - 1] as string) > (keys[index] as string)) return keys.sort()
  }
  return keys
}

/**
 * Short strings without anything to escape, nearly all of them, are only looked through; the engine escapes the others
 * as RFC 8785 asks.
 */
function writeString(value: string, trail: Trail, depth: number): string {
  if (value.length > 64) return escapeString(value, trail, depth)
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index)
    if (code < 0x20 || code === 0x22 || code === 0x5c || code >= 0xd800) return escapeString(value, trail, depth)
  }
  return `"${value}"`
}

function escapeString(value: string, trail: Trail, depth: number): string {
  if (!value.isWellFormed()) {
    throw refusal(trail, depth, 'the text holds half of a surrogate pair, which is no character; remove it')
  }
  if (value.includes('\0')) throw refusal(trail, depth, 'the text holds NUL; remove it, or send bytes as base64')
  return JSON.stringify(value)
}

/** Plain objects of another realm, such as a test runner's, count too: the prototype of their prototype is null. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null
}

/** A cycle is told from a deep value by finding a container inside itself. */
function tooDeep(value: object, trail: Trail, depth: number): NotJson {
  const open = [...trail.containers.slice(0, depth), value]
  const again = open.findIndex((container, index) => open.indexOf(container) < index)
  if (again === -1) return refusal(trail, depth, `the value is nested deeper than ${JSON_DEPTH_MAX} levels; flatten it`)
  return refusal(trail, again, 'the value contains itself; JSON cannot carry a cycle')
}

function refusal(trail: Trail, depth: number, reason: string): NotJson {
  // A step with half a surrogate pair cannot be part of an answer either.
  const steps = trail.steps.slice(0, depth).map((step) => String(step).toWellFormed())
  return new NotJson(jsonPointer(steps), reason)
}
