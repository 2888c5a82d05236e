/**
 * The few calls to Kubernetes that running Jobs takes, and no more. What they reject with says whether the server refused or nobody can tell:
 * see kubernetes-http.ts.
 */

import type { z } from 'zod'
import type { Connection } from './kubernetes-connection.ts'
import { KubernetesHttp, KubernetesRefused, KubernetesUnreachable, type Query } from './kubernetes-http.ts'
import { LineBuffer } from './kubernetes-lines.ts'
import {
  type AnyObject,
  anySchema,
  type Job,
  jobSchema,
  listSchema,
  type Pod,
  podSchema,
  statusSchema,
  watchEventSchema,
} from './kubernetes-objects.ts'

export type Kind = 'jobs' | 'pods'

export type Listed<T> = { items: T[]; resourceVersion: string }

export type WatchEvent = { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; object: AnyObject }

export type LogOptions = {
  container: string
  follow: boolean
  sinceTime?: string | undefined
  limitBytes: number
  signal: AbortSignal
}

/** A page of a list, and how many pages of it are read at most. */
const PAGE_ITEMS = 500
const PAGES_MAX = 200

const WATCH_SECONDS = 240
const EVENT_BYTES_MAX = 4 * 1024 * 1024

export class KubernetesClient {
  /** Where jobs go when nothing else names a namespace. */
  readonly namespace: string
  readonly #http: KubernetesHttp

  constructor(connection: Connection, options: { timeoutMs?: number } = {}) {
    this.namespace = connection.namespace
    this.#http = new KubernetesHttp(connection, options)
  }

  /** Unknown fields are refused by the server instead of dropped, so that a misspelt limit is noticed. */
  async createJob(namespace: string, manifest: object): Promise<Job> {
    const options = { query: { fieldValidation: 'Strict' }, body: manifest }
    return checked(jobSchema, await this.#http.json('POST', path('jobs', namespace), options))
  }

  /** Null when there is none, which only the API server itself can say. */
  async getJob(namespace: string, name: string): Promise<Job | null> {
    return orNull(async () => checked(jobSchema, await this.#http.json('GET', path('jobs', namespace, name))))
  }

  /**
   * With its pods: without a policy the API server would delete the Job alone and leave its pods running. Foreground keeps the
   * Job until its pods are gone. False when there is no such Job, or only one of that name that is not the one meant.
   */
  async deleteJob(namespace: string, name: string, uid?: string): Promise<boolean> {
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Foreground',
      ...(uid !== undefined && { preconditions: { uid } }),
    }
    return this.#delete(path('jobs', namespace, name), body)
  }

  /** Asks it to stop; it is gone when its containers have ended. */
  deletePod(namespace: string, name: string): Promise<boolean> {
    return this.#delete(path('pods', namespace, name), { apiVersion: 'v1', kind: 'DeleteOptions' })
  }

  listJobs(namespace: string, labelSelector: string): Promise<Listed<Job>> {
    return this.#list(jobSchema, 'jobs', namespace, labelSelector)
  }

  listPods(namespace: string, labelSelector: string): Promise<Listed<Pod>> {
    return this.#list(podSchema, 'pods', namespace, labelSelector)
  }

  list(kind: Kind, namespace: string, labelSelector: string): Promise<Listed<AnyObject>> {
    return this.#list(anySchema, kind, namespace, labelSelector)
  }

  /** Resolves when the server ends the watch, as it does every few minutes. Rejects with status 410 when the version is too old. */
  async watch(
    kind: Kind,
    namespace: string,
    options: { labelSelector: string; resourceVersion: string; signal: AbortSignal },
    onEvent: (event: WatchEvent) => void,
  ): Promise<void> {
    const { labelSelector, resourceVersion, signal } = options
    const lines = new LineBuffer(EVENT_BYTES_MAX, (line) => {
      const event = checked(watchEventSchema, parsed(line))
      if (event.type === 'ERROR') throw refusal(event.object)
      onEvent({ type: event.type, object: checked(anySchema, event.object) })
    })
    const query = {
      watch: true,
      allowWatchBookmarks: true,
      labelSelector,
      resourceVersion,
      timeoutSeconds: WATCH_SECONDS,
    }
    const late = AbortSignal.timeout((WATCH_SECONDS + 30) * 1_000)
    await this.#http.stream(path(kind, namespace), query, AbortSignal.any([signal, late]), (chunk) => lines.push(chunk))
  }

  /** Each line begins with its time. */
  async podLog(namespace: string, pod: string, options: LogOptions, onChunk: (chunk: Buffer) => void): Promise<void> {
    const { signal, ...rest } = options
    const query: Query = { ...rest, timestamps: true }
    await this.#http.stream(`${path('pods', namespace, pod)}/log`, query, signal, onChunk)
  }

  /** Writes it over one that is there. */
  async putSecret(namespace: string, manifest: { metadata: { name: string } }): Promise<void> {
    try {
      await this.#http.json('POST', path('secrets', namespace), { body: manifest })
    } catch (error) {
      if (!(error instanceof KubernetesRefused) || error.reason !== 'AlreadyExists') throw error
      await this.#http.json('PUT', path('secrets', namespace, manifest.metadata.name), { body: manifest })
    }
  }

  close(): void {
    this.#http.close()
  }

  async #delete(at: string, body: object): Promise<boolean> {
    try {
      await this.#http.json('DELETE', at, { body })
      return true
    } catch (error) {
      const isGone = error instanceof KubernetesRefused && ['NotFound', 'Conflict'].includes(error.reason)
      if (isGone) return false
      throw error
    }
  }

  async #list<S extends z.ZodType>(
    schema: S,
    kind: Kind,
    namespace: string,
    labelSelector: string,
  ): Promise<Listed<z.infer<S>>> {
    const items: z.infer<S>[] = []
    let next: string | undefined
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const query = { labelSelector, limit: PAGE_ITEMS, continue: next }
      const list = checked(listSchema, await this.#http.json('GET', path(kind, namespace), { query }))
      items.push(...list.items.map((item) => checked(schema, item)))
      next = list.metadata.continue || undefined
      if (next === undefined) return { items, resourceVersion: list.metadata.resourceVersion }
    }
    throw new KubernetesUnreachable(`there are more than ${PAGE_ITEMS * PAGES_MAX} ${kind} in ${namespace}`)
  }
}

function path(kind: Kind | 'secrets', namespace: string, name?: string): string {
  const group = kind === 'jobs' ? '/apis/batch/v1' : '/api/v1'
  const all = `${group}/namespaces/${encodeURIComponent(namespace)}/${kind}`
  return name === undefined ? all : `${all}/${encodeURIComponent(name)}`
}

async function orNull<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof KubernetesRefused && error.status === 404 && error.reason === 'NotFound') return null
    throw error
  }
}

function checked<S extends z.ZodType>(schema: S, value: unknown): z.infer<S> {
  const read = schema.safeParse(value)
  if (!read.success) throw new KubernetesUnreachable('a reply does not look like one of a Kubernetes API server')
  return read.data
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function refusal(object: unknown): Error {
  const { code = 0, reason = '', message = '' } = checked(statusSchema, object)
  return code >= 400 && code < 500 ? new KubernetesRefused(code, reason, message) : new KubernetesUnreachable(message)
}
