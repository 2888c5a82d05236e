/**
 * What a `holdfast.yaml` may say: every key with its kind and its meaning. `docs/models-yaml.md` lists the same; a test proves it.
 *
 * This says which keys and kinds there are; what follows from several of them together is checked where the definition is made.
 */

import { z } from 'zod'
import { AMOUNT_MAX } from '../run/amount.ts'
import {
  MODEL_NAME,
  MODEL_NAME_WANTED,
  MODEL_SECONDS_MAX,
  MODEL_VERSION,
  MODEL_VERSION_WANTED,
  PRIORITY_MAX,
  QUEUE_NAME,
  QUEUE_NAME_WANTED,
} from '../run/model-names.ts'
import { RETRY_DELAY_SECONDS_MAX } from '../run/retry.ts'
import { KEY_LENGTH_MAX, KEY_MODES, KEY_SCOPES, RUNS_PER_KEY_MAX } from '../run/runs-per-key.ts'

export const YAML_EXECUTORS = ['command', 'ray', 'kubernetes', 'remote'] as const

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
const CALLABLE = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/
const MEGABYTES_MAX = 16_777_216

const text = z.string().min(1).max(4_096)
const texts = z.array(text).max(1_000)
const path = z.string().min(1).max(4_096)
const envName = z.string().regex(ENV_NAME, 'must be the name of an environment variable')
const delay = z.number().min(0).max(RETRY_DELAY_SECONDS_MAX)
const seconds = z.number().gt(0).max(MODEL_SECONDS_MAX)
const amount = z.number().min(0).max(1_000_000)
const megabytes = z.int().min(1).max(MEGABYTES_MAX)
const executor = z.enum(YAML_EXECUTORS)
const quantities = z.record(z.string(), z.union([z.string().min(1).max(64), amount]))

const Resources = z.strictObject({
  cpus: amount.optional().describe('Processor cores, for Ray and Kubernetes.'),
  gpus: amount.optional().describe('Graphics processors, for Ray and Kubernetes.'),
  memory_mb: megabytes
    .optional()
    .describe('Memory in units of 1,048,576 bytes. A command that uses more is ended; Ray and Kubernetes reserve it.'),
})

const Retry = z.strictObject({
  max_attempts: z.int().min(1).max(1_000).optional().describe('Attempts of a run, the first one counted.'),
  backoff: z.enum(['fixed', 'exponential', 'list']).optional().describe('How the delays between attempts grow.'),
  base_delay_seconds: delay.optional().describe('The delay of `fixed`, the first one of `exponential`.'),
  max_delay_seconds: delay.optional().describe('No delay is longer.'),
  factor: z.number().min(1).max(1_000).optional().describe('What `exponential` multiplies by.'),
  delays_seconds: z.array(delay).min(1).max(100).optional().describe('The delays of `list`; the last one repeats.'),
  jitter: z.number().min(0).max(1).optional().describe('The part of a delay that is random.'),
  retry_on: texts.nullable().optional().describe('Error classes that are retried; null for all.'),
  no_retry_on: texts.optional().describe('Error classes that are never retried.'),
})

const RunsPerKey = z.strictObject({
  key: z
    .string()
    .min(1)
    .max(KEY_LENGTH_MAX)
    .describe('A JSON pointer into the parameters, such as `/customer`, or a text that is the key itself.'),
  limit: z.int().min(1).max(RUNS_PER_KEY_MAX).optional().describe('Active runs for each key.'),
  mode: z
    .enum(KEY_MODES)
    .optional()
    .describe('What a run does when its key has no place left: wait, be refused, or cancel older ones.'),
  scope: z.enum(KEY_SCOPES).optional().describe('Whether each owner has keys of its own, or all share them.'),
})

const Ray = z.strictObject({
  cluster: z.string().min(1).max(64).optional().describe('Name of a cluster that the operator has configured.'),
  runtime_env: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('The runtime environment of Ray, as it is. Anyone who sees the cluster can read it: no secrets.'),
  cpus: amount.optional().describe('Instead of `resources.cpus`.'),
  gpus: amount.optional().describe('Instead of `resources.gpus`.'),
  memory_mb: megabytes.optional().describe('Instead of `resources.memory_mb`.'),
  resources: z.record(z.string(), amount).optional().describe('Custom resources of the cluster.'),
})

const Kubernetes = z.strictObject({
  image: text.describe('Image of the container.'),
  namespace: z.string().min(1).max(63).optional().describe('Without it, the one of the connection.'),
  requests: quantities.optional().describe('Resource requests as Kubernetes writes them, instead of `resources`.'),
  limits: quantities.optional().describe('Resource limits as Kubernetes writes them, instead of `resources`.'),
  labels: z.record(z.string(), z.string().max(63)).optional().describe('Labels of the job and its pod.'),
  service_account: z.string().min(1).max(253).optional().describe('Account of the pod.'),
  queue_name: z.string().min(1).max(253).optional().describe('The Kueue queue that admits the job.'),
})

const Cost = z.strictObject({
  estimate: z
    .union([z.number().min(0).max(AMOUNT_MAX), z.string().min(1).max(1_000)])
    .describe('A number, or a CEL expression over `parameters`; held when a run is submitted. See guides/cost.md.'),
  rate_per_second: z
    .number()
    .min(0)
    .max(AMOUNT_MAX)
    .optional()
    .describe('What a second of an attempt costs that does not say itself what it cost.'),
  on_failure: z
    .enum(['actual', 'release'])
    .optional()
    .describe('What a run is charged that failed; `release`: nothing.'),
  on_cancel: z.enum(['actual', 'release']).optional().describe('What a run is charged that was cancelled.'),
  currency: z.string().min(1).max(16).optional().describe('For people; nothing is converted.'),
})

export const YamlModel = z.strictObject({
  name: z.string().regex(MODEL_NAME, `must be ${MODEL_NAME_WANTED}`).describe(`The name: ${MODEL_NAME_WANTED}.`),
  version: z
    .string()
    .regex(MODEL_VERSION, `must be ${MODEL_VERSION_WANTED}`)
    .optional()
    .describe('A text, in quotes when it looks like a number. Runs keep the version they were submitted with.'),
  description: z.string().max(4_096).optional().describe('For people.'),
  parameters: z
    .record(z.string(), z.unknown())
    .describe('JSON Schema (draft 2020-12) of the parameters; defaults are taken from it.'),
  executor: executor.optional().describe('What runs it when the request does not say. May be left out with `command`.'),
  executors: z
    .array(executor)
    .min(1)
    .optional()
    .describe('What a request may choose from. `remote` stands alone: any remote worker may lease any model.'),
  command: z
    .array(text)
    .min(1)
    .max(1_000)
    .optional()
    .describe('The program and its arguments. No shell reads them. See executors/command.md for what it is given.'),
  python: z
    .string()
    .regex(CALLABLE, 'must be module:function')
    .optional()
    .describe(
      'A Python function as `module:function`, for Ray and Kubernetes jobs, and of a remote model for Ray pools.',
    ),
  folder: path
    .nullable()
    .optional()
    .describe('The folder of the program’s files. Without it, that of this file; null for none.'),
  environment: z.record(envName, z.string()).optional().describe('Environment variables, each a text.'),
  inherit_environment: z
    .array(envName)
    .optional()
    .describe('Variables that the worker passes on from its own environment. Not on Ray or Kubernetes.'),
  secrets: z
    .record(envName, path)
    .optional()
    .describe('Variables whose value is the content of a file, read at each start.'),
  stdin: z.boolean().optional().describe('Whether the parameters are also written to standard input.'),
  result: z
    .enum(['file', 'last-line'])
    .optional()
    .describe('Where the result is read from. Without it: the file if it was written, else the last line.'),
  fatal_exit_codes: z
    .array(z.int().min(1).max(255))
    .optional()
    .describe('Exit codes that are never retried. Without it see executors/command.md.'),
  outputs: texts.optional().describe('Globs of the files to keep, within the folder for output.'),
  resources: Resources.optional().describe('What an attempt needs.'),
  queue: z.string().regex(QUEUE_NAME, `must be ${QUEUE_NAME_WANTED}`).optional().describe('The queue of its runs.'),
  priority: z.int().min(-PRIORITY_MAX).max(PRIORITY_MAX).optional().describe('Higher first.'),
  retry: Retry.optional().describe('Wins over the policy of the queue, which wins over the global one.'),
  timeout_seconds: seconds.optional().describe('How long an attempt may take.'),
  expected_seconds: seconds
    .optional()
    .describe('How long an attempt usually takes; three times this is the timeout when none is set.'),
  concurrency: z.int().min(1).optional().describe('At most this many at once in one worker.'),
  runs_per_key: RunsPerKey.optional().describe('At most so many active runs for each key, wherever they run.'),
  cost: Cost.optional().describe('What a run costs, for limits of cost.'),
  ignore_in_hash: texts.optional().describe('Parameters that do not make another input.'),
  volatile: texts
    .optional()
    .describe('Parts of the result that may differ between equal runs; a dot reaches inside: `metrics.seconds`.'),
  facets: z
    .record(z.string(), text)
    .optional()
    .describe(
      'What runs are found by: names, each with a path into the result, such as `language: statistics.language`.',
    ),
  places: text.optional().describe('Path to the list of places in the result, each with `latitude` and `longitude`.'),
  ray: Ray.optional().describe('For the executor ray.'),
  kubernetes: Kubernetes.optional().describe('For the executor kubernetes.'),
})

export const YamlDeclarations = z.strictObject({ models: z.array(YamlModel).min(1).max(1_000) })

export type YamlModel = z.infer<typeof YamlModel>

/** What the reference says of a key that is left out. */
export const YAML_DEFAULTS: Record<string, string> = {
  version: '"1"',
  queue: 'default',
  priority: '0',
  stdin: 'true',
  'cost.on_failure': 'actual',
  'cost.on_cancel': 'actual',
  'runs_per_key.limit': '1',
  'runs_per_key.mode': 'queue',
  'runs_per_key.scope': 'owner',
}
