/** What the service knows of a model without its code: the definition a worker registers and the API validates from. */

import type { RetryPolicyInput } from './retry.ts'

export type JsonSchema = { [key: string]: unknown }

export type ModelDefinition = {
  name: string
  version: string
  description: string | null
  /** JSON Schema (draft 2020-12) of the parameters; defaults are applied from it before hashing. */
  parametersSchema: JsonSchema
  /** Top-level parameter names left out of the payload hash and kept in the parameters. */
  ignoreInHash: string[]
  /** Top-level result names left out of the result hash, e.g. durations. A dot reaches inside: `metrics.runtime_seconds`. */
  volatile: string[]
  queue: string
  priority: number
  /** The executor a run of this model uses by default: `process` or `inline`. */
  executor: string
  /** Fields set here win over the queue's policy, which wins over the global one. */
  retry: RetryPolicyInput
  timeoutSeconds: number | null
  expectedSeconds: number | null
  /** At most this many runs of the model at once in one worker process; null for no limit of its own. */
  concurrency: number | null
}
