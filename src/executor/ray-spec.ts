/**
 * What of a model travels to a Ray cluster: the submission of one attempt, built from the model's definition.
 *
 * The shell line is the same for every model; what to run is in the environment of the job, and its parameters are not there at all: the job
 * asks the service for them with its ticket. The ticket is good for one trade and then worthless. The job's program itself travels
 * packed in a variable, so that a stock cluster needs nothing of ours and no shared disk.
 */

import type { ModelDefinition } from '../run/definition.ts'
import type { AttemptInput } from './executor.ts'
import { packedProgram, workOf } from './job-program.ts'
import type { RaySubmission } from './ray-client.ts'

/** A constant: nothing of a run or a model is ever part of it. `exec` leaves no shell between Ray and the job. */
export const ENTRYPOINT = `exec python3 -c "import os,zlib,base64;exec(compile(zlib.decompress(base64.b64decode(os.environ.pop('HOLDFAST_RAY_PROGRAM'))),'holdfast_ray_job.py','exec'))"`

export type Placement = {
  /** Where jobs reach the service. */
  serviceUrl: string
  /** Tells the jobs of several services on one cluster apart. */
  installation: string
  ticket: string
  /** Name of an uploaded package with the model's files. */
  packageName: string | null
}

export function submissionIdOf({ runId, attempt }: { runId: string; attempt: number }): string {
  return `run-${runId}-a${attempt}`
}

const SUBMISSION_ID = /^run-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-a([1-9]\d{0,5})$/

export function attemptOfSubmission(id: string): { runId: string; attempt: number } | null {
  const [, runId, attempt] = SUBMISSION_ID.exec(id) ?? []
  return runId === undefined ? null : { runId, attempt: Number(attempt) }
}

/** The folder whose files the job needs. */
export function folderOf({ command, python }: ModelDefinition): string | null {
  return (command ?? python)?.folder ?? null
}

/** Null when the model has something to run on Ray, else why not. */
export function whyNotOnRay({ command, python, ray }: ModelDefinition): string | null {
  if (!command && !python) return 'it has neither a command nor a Python callable'
  if (command?.envNames?.length)
    return 'its command wants variables of the worker (envNames), which a cluster does not have'
  if (folderOf({ command, python } as ModelDefinition) !== null && ray?.runtimeEnv?.working_dir !== undefined) {
    return 'it has both a folder and a working_dir in its runtime_env; keep one'
  }
  return null
}

export function submissionOf(definition: ModelDefinition, input: AttemptInput, placement: Placement): RaySubmission {
  const { ray = {} } = definition
  const { env_vars: own, ...runtimeEnv } = (ray.runtimeEnv ?? {}) as { env_vars?: Record<string, string> }
  const { serviceUrl, ticket, packageName, installation } = placement
  return {
    entrypoint: ENTRYPOINT,
    submission_id: submissionIdOf(input),
    runtime_env: {
      ...runtimeEnv,
      ...(packageName !== null && { working_dir: `gcs://${packageName}` }),
      env_vars: {
        ...own,
        HOLDFAST_URL: serviceUrl,
        HOLDFAST_RUN_ID: input.runId,
        HOLDFAST_ATTEMPT: String(input.attempt),
        HOLDFAST_TICKET: ticket,
        HOLDFAST_RAY_WORK: JSON.stringify(workOf(definition)),
        HOLDFAST_RAY_PROGRAM: packedProgram(),
      },
    },
    metadata: {
      holdfast: installation,
      run_id: input.runId,
      attempt: String(input.attempt),
      model: input.model,
      model_version: input.modelVersion,
      ...(input.owner !== undefined && { owner: input.owner }),
      ...(input.payloadHash !== undefined && { payload_hash: input.payloadHash }),
    },
    ...(ray.cpus !== undefined && { entrypoint_num_cpus: ray.cpus }),
    ...(ray.gpus !== undefined && { entrypoint_num_gpus: ray.gpus }),
    ...(ray.memoryBytes !== undefined && { entrypoint_memory: ray.memoryBytes }),
    ...(ray.resources !== undefined && { entrypoint_resources: ray.resources }),
  }
}
