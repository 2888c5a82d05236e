/**
 * What the service knows of a model without its code: the definition a worker registers and the API validates from.
 *
 * The parts `command`, `python`, `ray` and `kubernetes` say how a worker runs the model. They may name paths and secrets of that worker's
 * machine, so they stay in its registry: what is registered and shown is `publicDefinition`.
 */

import type { CostDefinition } from './cost.ts'
import type { RetryPolicyInput } from './retry.ts'
import type { RunsPerKey } from './runs-per-key.ts'

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
  /** Name → path into the result: what runs are found by. Arrays on the way give several values. */
  facets?: Record<string, string>
  /** Path to the array of places, each with `latitude`, `longitude` and maybe a `label`. */
  places?: string
  /** The names of its steps in their order, where they are known before it runs. */
  steps?: string[]
  queue: string
  priority: number
  /** The executor a run of this model uses by default: `process`, `inline`, `command`, `ray`, `kubernetes` or `remote`. */
  executor: string
  /** The executors a request may choose from; without it see `allowedExecutors`. */
  executors?: string[]
  /** Fields set here win over the queue's policy, which wins over the global one. */
  retry: RetryPolicyInput
  timeoutSeconds: number | null
  expectedSeconds: number | null
  /** At most this many runs of the model at once in one worker process; null for no limit of its own. */
  concurrency: number | null
  /** At most so many active runs for each key, wherever they run. */
  runsPerKey?: RunsPerKey
  /** What its runs cost; without it nothing. */
  cost?: CostDefinition
  /** A program of its own. */
  command?: CommandSpec
  /** A Python function, for executors that have Python of their own. */
  python?: PythonSpec
  ray?: RaySpec
  kubernetes?: KubernetesSpec
}

export type CommandSpec = {
  argv: string[]
  /** The folder whose files the program sees; absolute. */
  folder?: string
  env?: Record<string, string>
  /** Names passed on from the worker's own environment. */
  envNames?: string[]
  /** Environment name → absolute path of the file whose content is the value, read at each start. */
  secrets?: Record<string, string>
  /** Without it: the file if one was written, else the last line of the output. */
  result?: 'file' | 'last-line'
  /** Exit codes that are never retried. */
  fatalExitCodes?: number[]
  memoryMb?: number | null
  /** Whether the parameters are also written to standard input; they are unless this is false. */
  stdin?: boolean
  /** Globs of the files to keep, within the folder for output. */
  outputs?: string[]
}

/** `callable` is `module:function`. `folder`, absolute, is where the module is found. */
export type PythonSpec = { callable: string; folder?: string }

export type RaySpec = {
  /** A name from the operator's configuration, never an address. */
  cluster?: string
  runtimeEnv?: { [key: string]: unknown }
  cpus?: number
  gpus?: number
  memoryBytes?: number
  resources?: Record<string, number>
}

export type KubernetesSpec = {
  image: string
  namespace?: string
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> }
  labels?: Record<string, string>
  serviceAccount?: string
  /** The Kueue queue that admits the job. */
  queueName?: string
}
