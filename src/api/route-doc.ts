/**
 * What a route says about itself, next to its code. The OpenAPI document is made from it, and from the very schemas that validate
 * requests; answers are described by the schemas of the contract.
 */

import type { z } from 'zod'
import type { ErrorCode } from '../run/errors.ts'

export type RouteDoc = {
  /** One line, for a person. */
  summary: string
  /** More, when one line is not enough. Markdown. */
  description?: string
  tag:
    | 'runs'
    | 'files'
    | 'events'
    | 'bulk'
    | 'batches'
    | 'models'
    | 'queues'
    | 'workers'
    | 'stats'
    | 'quotas'
    | 'deliveries'
    | 'views'
    | 'access'
    | 'service'
  params?: z.ZodObject
  query?: z.ZodObject
  /** Of the JSON body. */
  body?: z.ZodType
  /** Of a body that is no JSON: its content types, each with a schema. */
  content?: Record<string, object>
  /** Request headers with a meaning of ours, lower case, with their description. */
  headers?: Record<string, string>
  answers: Record<number, Answer>
  /** What this route can refuse with beyond what every route can. */
  refusals: ErrorCode[]
}

export type Answer = {
  description: string
  /** None for an empty body. */
  schema?: z.ZodType
  /** `application/json` when not given. */
  type?: string
  /** Further content types of the same answer, such as `text/event-stream`; their bodies are described as text. */
  also?: string[]
  headers?: Record<string, string>
}
