/** The query of a request, checked like a body: unknown names are refused with the nearest known one. */

import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { Refusal } from '../run/errors.ts'
import { fieldErrors } from './body.ts'
import { nulInQuery } from './nul.ts'

export function checkedQuery<Schema extends z.ZodObject>(request: FastifyRequest, schema: Schema): z.output<Schema> {
  if (nulInQuery(request.url)) throw new Refusal('invalid-query', 'The query is not valid: it holds a NUL.')
  const parsed = schema.safeParse(request.query)
  if (parsed.success) return parsed.data
  const problems = fieldErrors(parsed.error.issues, Object.keys(schema.shape))
  const detail = problems.map((problem) => `${problem.pointer.slice(1)} ${problem.detail}`).join('; ')
  throw new Refusal('invalid-query', `The query is not valid: ${detail}.`)
}
