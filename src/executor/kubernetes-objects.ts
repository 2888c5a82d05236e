/** The parts of Kubernetes' objects that we read. A reply that does not have this shape is no answer of a Kubernetes API server. */

import { z } from 'zod'

const metadata = z.object({
  name: z.string(),
  namespace: z.string().optional(),
  uid: z.string().optional(),
  resourceVersion: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  creationTimestamp: z.string().nullish(),
  deletionTimestamp: z.string().optional(),
})

const condition = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string().optional(),
  message: z.string().optional(),
})

const containerState = z.object({
  waiting: z.object({ reason: z.string().optional(), message: z.string().optional() }).optional(),
  running: z.object({}).optional(),
  terminated: z
    .object({
      exitCode: z.number(),
      signal: z.number().optional(),
      reason: z.string().optional(),
      message: z.string().optional(),
    })
    .optional(),
})

const containerStatus = z.object({ name: z.string(), state: containerState.optional() })

export const jobSchema = z.object({
  metadata,
  spec: z.object({ suspend: z.boolean().optional() }).optional(),
  status: z.object({ conditions: z.array(condition).optional() }).optional(),
})

export const podSchema = z.object({
  metadata,
  status: z
    .object({
      phase: z.string().optional(),
      reason: z.string().optional(),
      message: z.string().optional(),
      conditions: z.array(condition).optional(),
      containerStatuses: z.array(containerStatus).optional(),
    })
    .optional(),
})

export const statusSchema = z.object({
  kind: z.literal('Status'),
  message: z.string().optional(),
  reason: z.string().optional(),
  code: z.number().optional(),
})

export const listSchema = z.object({
  metadata: z.object({ resourceVersion: z.string(), continue: z.string().optional() }),
  items: z.array(z.unknown()),
})

export const watchEventSchema = z.object({
  type: z.enum(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']),
  object: z.unknown(),
})

/** What all objects have in common, of which a bookmark has nothing but the version. */
export const anySchema = z.object({
  metadata: z.object({
    name: z.string().optional(),
    resourceVersion: z.string().optional(),
    labels: z.record(z.string(), z.string()).optional(),
  }),
})

export type Job = z.infer<typeof jobSchema>
export type Pod = z.infer<typeof podSchema>
export type Condition = z.infer<typeof condition>
export type ContainerStatus = z.infer<typeof containerStatus>
export type AnyObject = z.infer<typeof anySchema>
