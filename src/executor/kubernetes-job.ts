/**
 * What we ask Kubernetes for: one Job per attempt, whose name follows from run and attempt, and the Secret with the ticket of its program.
 *
 * Retries are ours, so Kubernetes makes none (`backoffLimit: 0`), and where it replaces a pod by itself it waits for the old one to end
 * (`podReplacementPolicy: Failed`). Nothing secret is in the Job, which many may read: the ticket comes from the Secret, which goes with the Job.
 */

import type { KubernetesSpec, ModelDefinition } from '../run/definition.ts'
import type { AttemptInput } from './executor.ts'
import { packedProgram, workOf } from './job-program.ts'
import type { AnyObject, Job } from './kubernetes-objects.ts'

export const CONTAINER = 'run'

const MANAGED_LABEL = 'app.kubernetes.io/managed-by'
const INSTALLATION_LABEL = 'holdfast.dev/installation'

const RUN_LABEL = 'holdfast.dev/run-id'
const ATTEMPT_LABEL = 'holdfast.dev/attempt'
const QUEUE_LABEL = 'kueue.x-k8s.io/queue-name'
const TICKET_KEY = 'ticket'

const UNPACK =
  'import os,zlib,base64;' +
  "exec(compile(zlib.decompress(base64.b64decode(os.environ.pop('HOLDFAST_RAY_PROGRAM'))),'holdfast_job.py','exec'))"

export type JobRequest = {
  name: string
  input: AttemptInput
  definition: ModelDefinition & { kubernetes: KubernetesSpec }
  /** Tells the Jobs of several services in one namespace apart. */
  installation: string
  /** Where the program in the pod reaches the API. */
  url: string
  /** How long a finished Job stays to be looked at. */
  keepSeconds: number
  /** Between SIGTERM and SIGKILL. */
  graceSeconds: number
}

export function jobName({ runId, attempt }: { runId: string; attempt: number }): string {
  return `run-${runId.toLowerCase()}-a${attempt}`
}

/** Finds all Jobs and pods of this service. */
export function ownSelector(installation: string): string {
  return `${MANAGED_LABEL}=holdfast,${INSTALLATION_LABEL}=${installation}`
}

/** Finds the pods of one attempt even when their Job is gone. */
export function podSelector({ runId, attempt }: { runId: string; attempt: number }): string {
  return `${RUN_LABEL}=${runId},${ATTEMPT_LABEL}=${attempt}`
}

export function isOf(job: Job, { runId, attempt }: { runId: string; attempt: number }): boolean {
  const { labels = {} } = job.metadata
  return labels[RUN_LABEL] === runId && labels[ATTEMPT_LABEL] === String(attempt)
}

/** The attempt a Job or a pod belongs to, by the labels they share. */
export function attemptOf({ metadata }: AnyObject): { runId: string; attempt: number } | null {
  const { [RUN_LABEL]: runId, [ATTEMPT_LABEL]: attempt } = metadata.labels ?? {}
  return runId && attempt ? { runId, attempt: Number(attempt) } : null
}

export function jobManifest(request: JobRequest) {
  const { name, input, definition, installation, keepSeconds, graceSeconds } = request
  const { kubernetes: spec } = definition
  // Ours win: we find our Jobs by them.
  const labels = { ...spec.labels, ...ownLabels(input, installation) }
  const annotations = { 'holdfast.dev/model': `${input.model}@${input.modelVersion}` }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, labels: { ...labels, ...(spec.queueName && { [QUEUE_LABEL]: spec.queueName }) }, annotations },
    spec: {
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      podReplacementPolicy: 'Failed',
      activeDeadlineSeconds: Math.max(1, Math.ceil(input.timeoutMs / 1_000)),
      ttlSecondsAfterFinished: keepSeconds,
      template: {
        metadata: { labels, annotations },
        spec: {
          restartPolicy: 'Never',
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: graceSeconds,
          ...(spec.serviceAccount && { serviceAccountName: spec.serviceAccount }),
          securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: CONTAINER,
              image: spec.image,
              ...programOf(request),
              ...(spec.resources && { resources: spec.resources }),
              securityContext: { allowPrivilegeEscalation: false },
              // Of a program that says nothing before it dies, the end of its output is kept as the message.
              terminationMessagePolicy: 'FallbackToLogsOnError',
            },
          ],
        },
      },
    },
  }
}

/** Owned by the Job, so that it goes when the Job goes, whoever deletes that. */
export function ticketSecret(job: Job, ticket: string) {
  const { name, uid, labels = {} } = job.metadata
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      labels,
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid }],
    },
    type: 'Opaque',
    data: { [TICKET_KEY]: Buffer.from(ticket).toString('base64') },
  }
}

/**
 * A model with a callable or a command is run by our own program, which comes along in a variable and needs Python in the image. Without
 * them the image's entrypoint is the program, and speaks the protocol itself.
 */
function programOf({ name: secret, input, definition, url }: JobRequest): { command?: string[]; env: object[] } {
  const { runId, attempt, model, modelVersion } = input
  const isOurs = definition.command !== undefined || definition.python !== undefined
  const plain = {
    HOLDFAST_URL: url,
    HOLDFAST_RUN_ID: runId,
    HOLDFAST_ATTEMPT: String(attempt),
    HOLDFAST_MODEL: model,
    HOLDFAST_MODEL_VERSION: modelVersion,
    ...(isOurs && { HOLDFAST_RAY_WORK: JSON.stringify(workOf(definition)), HOLDFAST_RAY_PROGRAM: packedProgram() }),
  }
  const env = [
    // Kubernetes would take $(NAME) in a value for a reference.
    ...Object.entries(plain).map(([name, value]) => ({ name, value: value.replaceAll('$', '$$$$') })),
    { name: 'HOLDFAST_TICKET', valueFrom: { secretKeyRef: { name: secret, key: TICKET_KEY } } },
  ]
  return isOurs ? { command: ['python3', '-c', UNPACK], env } : { env }
}

function ownLabels({ runId, attempt, model }: AttemptInput, installation: string): Record<string, string> {
  return {
    [MANAGED_LABEL]: 'holdfast',
    [INSTALLATION_LABEL]: installation,
    [RUN_LABEL]: runId,
    [ATTEMPT_LABEL]: String(attempt),
    'holdfast.dev/model': labelValue(model),
  }
}

/** The name as far as a label can hold it; the annotation has it whole. */
function labelValue(text: string): string {
  return text
    .replace(/[^A-Za-z0-9_.-]/g, '-')
    .slice(0, 63)
    .replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '')
}
