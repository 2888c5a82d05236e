/** The run id in a path such as `/runs/{id}`. What is no id leads to no run, and says so in the same words. */

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Refusal } from '../run/errors.ts'
import { isRunId } from './run-id.ts'

/** Of `/runs/{id}` and what lies under it. */
export const RunParams = z.strictObject({ id: z.guid().describe('The id of the run.') })

export function runIdOf(request: FastifyRequest): string {
  const { id } = request.params as { id: string }
  if (isRunId(id)) return id.toLowerCase()
  throw runNotFound(id)
}

export function runNotFound(id: string): Refusal {
  return new Refusal('run-not-found', `There is no run ${JSON.stringify(id)}.`)
}
