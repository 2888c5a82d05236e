/** From the bytes of a body to a checked value. Errors carry pointers into the body. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { type FieldError, Refusal } from '../run/errors.ts'
import { JsonRefused, parseStrictJson } from '../run/json.ts'
import { jsonPointer } from '../run/json-pointer.ts'
import { nearestOf } from '../run/nearest.ts'
import { isSensitiveName } from '../run/redaction.ts'

/**
 * JSON is the only content type there is, and the strict reader the only one to read it. What it says about a value with a
 * sensitive name does not quote the value.
 */
export function readJsonBodies(app: FastifyInstance, sensitiveWords?: readonly string[]): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes: Buffer, done) => {
    try {
      done(null, bytes.length === 0 ? undefined : parseStrictJson(bytes))
    } catch (error) {
      done(error instanceof JsonRefused ? notAcceptable(error, sensitiveWords) : (error as Error))
    }
  })
}

export function notAcceptable({ pointer, reason: quoting, offset }: JsonRefused, words?: readonly string[]): Refusal {
  const isSensitive = pointer.split('/').some((name) => isSensitiveName(name, words))
  const reason = isSensitive ? 'the value, which is not shown here, is not acceptable' : quoting
  const place = pointer === '' ? `offset ${offset}` : pointer
  return new Refusal('invalid-json', `The body is not acceptable JSON at ${place}: ${reason}.`, {
    errors: [{ pointer, detail: reason }],
  })
}

/** The body as the schema describes it, or a refusal that names every place at fault. */
export function checkedBody<Schema extends z.ZodObject>(request: FastifyRequest, schema: Schema): z.output<Schema> {
  if (request.body === undefined) {
    const errors = [{ pointer: '', detail: 'a JSON object is needed' }]
    throw new Refusal('invalid-json', 'The request has no body.', { errors })
  }
  return checkedValue(request.body, schema)
}

/** A value that came as a body, or as a part of one that is answered for itself; pointers start at the value. */
export function checkedValue<Schema extends z.ZodObject>(value: unknown, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const errors = fieldErrors(parsed.error.issues, Object.keys(schema.shape))
  throw new Refusal('invalid-body', `The body does not fit: ${errors.map(inWords).join('; ')}.`, { errors })
}

/** Unknown names are reported each at its own place, with the known name it is nearest to. */
export function fieldErrors(issues: readonly z.core.$ZodIssue[], known: string[]): FieldError[] {
  return issues.flatMap((issue) => {
    const path = issue.path as (string | number)[]
    if (issue.code !== 'unrecognized_keys') return [{ pointer: jsonPointer(path), detail: plain(issue) }]
    return issue.keys.map((key) => {
      const nearest = path.length === 0 ? nearestOf(key, known) : null
      return {
        pointer: jsonPointer([...path, key]),
        detail: `is not a known name${nearest ? ` (did you mean ${nearest}?)` : ''}`,
      }
    })
  })
}

function plain(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && issue.input === undefined && /received undefined$/.test(issue.message))
    return 'is required'
  return issue.message.charAt(0).toLowerCase() + issue.message.slice(1)
}

function inWords({ pointer, detail }: FieldError): string {
  return `${pointer === '' ? 'the body' : pointer} ${detail}`
}
