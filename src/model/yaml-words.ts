/** Says what is wrong with a declaration: each problem of the schema in one sentence, at the place of the key or value at fault. */

import { closest } from 'fastest-levenshtein'
import { z } from 'zod'
import { jsonPointer } from '../run/json-pointer.ts'
import type { YamlFile, YamlProblem } from './yaml-read.ts'

type Path = (string | number)[]

export function problemsOf(error: z.ZodError, schema: z.ZodType, file: YamlFile): YamlProblem[] {
  return error.issues.flatMap((issue) => {
    const path = issue.path as Path
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(key, path, schema, file))
    const pointer = jsonPointer(path)
    const isName = issue.code === 'invalid_key'
    return [{ ...file.placeOf(pointer, isName), pointer, detail: inWords(issue, pointer, file) }]
  })
}

function unknownKey(key: string, path: Path, schema: z.ZodType, file: YamlFile): YamlProblem {
  const pointer = jsonPointer([...path, key])
  const known = Object.keys(shapeAt(schema, path))
  const nearest = known.length > 0 ? `; the nearest is ${closest(key.slice(0, 128), known)}` : ''
  return { ...file.placeOf(pointer, true), pointer, detail: `there is no key ${JSON.stringify(key)} here${nearest}` }
}

function inWords(issue: z.core.$ZodIssue, pointer: string, file: YamlFile): string {
  const source = file.sourceOf(pointer)
  if (issue.code === 'invalid_type') {
    if (/received undefined$/.test(issue.message)) return `${lastName(pointer)} is missing`
    if (source === '') return `${lastName(pointer)} has no value`
    if (pointer.endsWith('/command')) return 'must be a list, such as [python3, model.py]: no shell reads it'
    if (issue.expected === 'string' && source !== undefined) {
      return `must be text: put it in quotes, ${JSON.stringify(source)}`
    }
    return `must be ${KINDS[issue.expected] ?? issue.expected}`
  }
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? 'is not an allowed name'
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`
  return issue.message.charAt(0).toLowerCase() + issue.message.slice(1)
}

const KINDS: Record<string, string> = {
  string: 'text',
  array: 'a list',
  record: 'an object',
  object: 'an object',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
}

function lastName(pointer: string): string {
  return pointer.slice(pointer.lastIndexOf('/') + 1)
}

/** The keys that the schema knows at a path. */
function shapeAt(schema: z.ZodType, path: Path): Record<string, unknown> {
  let here: unknown = unwrapped(schema)
  for (const step of path) {
    if (here instanceof z.ZodArray) here = unwrapped(here.element)
    else if (here instanceof z.ZodObject) here = unwrapped(here.shape[step])
    else return {}
  }
  return here instanceof z.ZodObject ? here.shape : {}
}

export function unwrapped(schema: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return unwrapped(schema.unwrap())
  return schema
}
