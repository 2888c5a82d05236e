/**
 * What the in-process Kubernetes API server refuses: fields it does not know (strict field validation) and values that its own validation
 * refuses. The tables hold the fields of batch/v1 Jobs and core/v1 Secrets that exist in Kubernetes, as far as a client of ours could want them.
 */

import type { KubeObject } from './kube-api-storage.ts'

/** `true`: any value. A function of this table: an object with these fields; in a list: one for each entry. */
type Shape = true | { [field: string]: Shape } | [Shape]

const META: Shape = {
  name: true,
  generateName: true,
  namespace: true,
  labels: true,
  annotations: true,
  finalizers: true,
  uid: true,
  resourceVersion: true,
  creationTimestamp: true,
  ownerReferences: [
    { apiVersion: true, kind: true, name: true, uid: true, controller: true, blockOwnerDeletion: true },
  ],
}

const SECURITY: Shape = {
  allowPrivilegeEscalation: true,
  capabilities: { add: true, drop: true },
  privileged: true,
  readOnlyRootFilesystem: true,
  runAsGroup: true,
  runAsNonRoot: true,
  runAsUser: true,
  seccompProfile: { type: true, localhostProfile: true },
}

const CONTAINER: Shape = {
  name: true,
  image: true,
  imagePullPolicy: true,
  command: true,
  args: true,
  workingDir: true,
  env: [
    {
      name: true,
      value: true,
      valueFrom: {
        secretKeyRef: { name: true, key: true, optional: true },
        configMapKeyRef: { name: true, key: true, optional: true },
        fieldRef: { apiVersion: true, fieldPath: true },
      },
    },
  ],
  envFrom: true,
  resources: { requests: true, limits: true, claims: true },
  securityContext: SECURITY,
  terminationMessagePath: true,
  terminationMessagePolicy: true,
  volumeMounts: true,
}

const POD_SPEC: Shape = {
  restartPolicy: true,
  automountServiceAccountToken: true,
  enableServiceLinks: true,
  terminationGracePeriodSeconds: true,
  serviceAccountName: true,
  securityContext: { ...(SECURITY as object), fsGroup: true, supplementalGroups: true },
  containers: [CONTAINER],
  initContainers: [CONTAINER],
  imagePullSecrets: true,
  nodeSelector: true,
  tolerations: true,
  affinity: true,
  priorityClassName: true,
  activeDeadlineSeconds: true,
  volumes: true,
}

const JOB: Shape = {
  apiVersion: true,
  kind: true,
  metadata: META,
  spec: {
    activeDeadlineSeconds: true,
    backoffLimit: true,
    completionMode: true,
    completions: true,
    managedBy: true,
    parallelism: true,
    podFailurePolicy: true,
    podReplacementPolicy: true,
    successPolicy: true,
    suspend: true,
    ttlSecondsAfterFinished: true,
    template: { metadata: META, spec: POD_SPEC },
  },
  status: true,
}

const SECRET: Shape = {
  apiVersion: true,
  kind: true,
  metadata: META,
  type: true,
  data: true,
  stringData: true,
  immutable: true,
}

export type Problem = { status: 400 | 422; reason: 'BadRequest' | 'Invalid'; message: string }

export function problemOf(resource: 'jobs' | 'secrets', object: KubeObject): Problem | null {
  const kind = resource === 'jobs' ? 'Job' : 'Secret'
  const unknown = unknownField(object, resource === 'jobs' ? JOB : SECRET, '')
  if (unknown) {
    const message = `${kind} in version "v1" cannot be handled as a ${kind}: strict decoding error: unknown field "${unknown}"`
    return { status: 400, reason: 'BadRequest', message }
  }
  const invalid = invalidMetadata(object.metadata, 'metadata') ?? (resource === 'jobs' ? invalidJob(object) : null)
  if (!invalid) return null
  const message = `${kind} "${object.metadata?.name}" is invalid: ${invalid}`
  return { status: 422, reason: 'Invalid', message }
}

function unknownField(value: unknown, shape: Shape, at: string): string | null {
  if (shape === true || value === null || value === undefined) return null
  if (Array.isArray(shape)) {
    const entries = Array.isArray(value) ? value : []
    return first(entries.map((entry, index) => unknownField(entry, shape[0], `${at}[${index}]`)))
  }
  return first(
    Object.entries(value).map(([field, inner]) => {
      const path = at === '' ? field : `${at}.${field}`
      const known = Object.hasOwn(shape, field) ? shape[field] : undefined
      return known === undefined ? path : unknownField(inner, known, path)
    }),
  )
}

function first(found: (string | null)[]): string | null {
  return found.find((one) => one !== null) ?? null
}

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const LABEL = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/

// biome-ignore lint/suspicious/noExplicitAny: it is what a client sent.
function invalidMetadata(metadata: any, at: string): string | null {
  const { name, labels = {} } = metadata ?? {}
  if (at === 'metadata' && (typeof name !== 'string' || name.length > 63 || !NAME.test(name))) {
    return `metadata.name: Invalid value: "${name}": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'`
  }
  for (const [key, value] of Object.entries(labels)) {
    if (typeof value !== 'string') return `${at}.labels: Invalid value: "${key}": must be a string`
    if (value.length > 63 || !LABEL.test(value)) {
      return `${at}.labels: Invalid value: "${value}": a valid label must be an empty string or consist of alphanumeric characters`
    }
  }
  return null
}

function invalidJob({ spec }: KubeObject): string | null {
  const pod = spec?.template?.spec
  if (!pod) return 'spec.template: Required value'
  if (!['Never', 'OnFailure'].includes(pod.restartPolicy)) {
    return `spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`
  }
  if (!pod.containers?.length) return 'spec.template.spec.containers: Required value'
  for (const [index, { name, image, env = [] }] of pod.containers.entries()) {
    if (!name) return `spec.template.spec.containers[${index}].name: Required value`
    if (!image) return `spec.template.spec.containers[${index}].image: Required value`
    for (const { value } of env) {
      if (value !== undefined && typeof value !== 'string')
        return `spec.template.spec.containers[${index}].env: must be a string`
    }
  }
  for (const field of ['activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished']) {
    const value = spec[field]
    if (value !== undefined && (!Number.isInteger(value) || value < 0)) {
      return `spec.${field}: Invalid value: ${value}: must be greater than or equal to 0`
    }
  }
  if (![undefined, 'Failed', 'TerminatingOrFailed'].includes(spec.podReplacementPolicy)) {
    return `spec.podReplacementPolicy: Unsupported value: "${spec.podReplacementPolicy}"`
  }
  return invalidMetadata(spec.template.metadata ?? {}, 'spec.template.metadata')
}
