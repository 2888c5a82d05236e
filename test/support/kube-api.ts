/**
 * A Kubernetes API server in this process, on a real socket: Jobs, Pods, Secrets, logs and watches with resource versions, behaving as the real one
 * does towards clients of Jobs. It refuses what the real one refuses, delays what the real one delays, and leaves the pods of a Job running
 * that is deleted without a propagation policy. A test can lose its replies, forbid, take tokens away, compact and restart it.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { problemOf } from './kube-api-checks.ts'
import { type ClusterOptions, KubeCluster } from './kube-api-cluster.ts'
import { serveLog } from './kube-api-log.ts'
import { groupOf, notFound, type Reply, refusal, send } from './kube-api-reply.ts'
import { type KubeObject, KubeStorage, type Resource } from './kube-api-storage.ts'
import { matches, serveWatch } from './kube-api-watch.ts'

export type KubeRequest = {
  method: string
  path: string
  query: URLSearchParams
  body: KubeObject | null
  token: string | null
}

type Target = { resource: Resource; namespace: string; name: string; verb: string }
type Fault = { method: string; path: RegExp; act: 'lose' | 'hang' | Reply }

const PATH = /^\/(?:apis\/batch\/v1|api\/v1)\/namespaces\/([^/]+)\/(jobs|pods|secrets)(?:\/([^/]+?))?(\/log)?$/

const WARNING =
  '299 - "child pods are preserved by default when jobs are deleted; ' +
  'set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"'

/** Ended with the test. */
export async function kubeApi(options: ClusterOptions = {}): Promise<KubeApi> {
  const api = new KubeApi(options)
  await api.start()
  onTestFinished(async () => {
    api.cluster.close()
    await api.stop()
  })
  return api
}

export class KubeApi {
  readonly storage = new KubeStorage()
  readonly cluster: KubeCluster
  readonly seen: KubeRequest[] = []
  /** Tokens that are let in; none means that everyone is. */
  readonly tokens = new Set<string>()
  /** Such as `create secrets`: answered 403. */
  readonly forbidden = new Set<string>()
  readonly #options: ClusterOptions
  readonly #faults: Fault[] = []
  readonly #streams = new Set<ServerResponse>()
  #server: Server | null = null
  #port = 0

  constructor(options: ClusterOptions) {
    this.#options = options
    this.cluster = new KubeCluster(this.storage, options)
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  jobs(namespace = 'default'): KubeObject[] {
    return this.storage.list('jobs', namespace)
  }

  pods(namespace = 'default'): KubeObject[] {
    return this.storage.list('pods', namespace)
  }

  /** How often something was asked for. */
  count(method: string, path: RegExp): number {
    return this.seen.filter((request) => request.method === method && path.test(request.path)).length
  }

  /** The next request that matches is carried out, but its reply is lost. */
  loseReply(method: string, path: RegExp): void {
    this.#faults.push({ method, path, act: 'lose' })
  }

  /** The next request that matches is neither carried out nor answered. */
  hangNext(method: string, path: RegExp): void {
    this.#faults.push({ method, path, act: 'hang' })
  }

  /** The next request that matches is answered with this instead of being carried out. */
  failNext(method: string, path: RegExp, reply: Reply = refusal(500, 'InternalError', 'etcd has no leader')): void {
    this.#faults.push({ method, path, act: reply })
  }

  /** Ends all open watches and logs, as a proxy or an upgrade does. */
  cutStreams(): void {
    for (const stream of this.#streams) stream.destroy()
  }

  get streamCount(): number {
    return this.#streams.size
  }

  /** Again on the same port, with the same objects. */
  async start(): Promise<void> {
    const server = createServer((request, response) => void this.#handle(request, response))
    await new Promise<void>((listening) => server.listen(this.#port, '127.0.0.1', listening))
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
  }

  async stop(): Promise<void> {
    const server = this.#server
    this.#server = null
    if (!server) return
    await new Promise<void>((closed) => {
      server.close(() => closed())
      server.closeAllConnections()
    })
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming)
    this.seen.push(request)
    const index = this.#faults.findIndex(({ method, path }) => method === request.method && path.test(request.path))
    const act = index === -1 ? null : this.#faults.splice(index, 1)[0]!.act
    if (act === 'hang') return
    if (act !== null && act !== 'lose') {
      send(response, act)
      return
    }
    const reply = this.#answer(request, response)
    if (act === 'lose') response.socket?.resetAndDestroy()
    else if (reply) send(response, reply)
  }

  /** Null when the answer is a stream. */
  #answer(request: KubeRequest, response: ServerResponse): Reply | null {
    const { query, body, token } = request
    const allowed = this.tokens.size === 0 || (token !== null && this.tokens.has(token))
    if (!allowed) return refusal(401, 'Unauthorized', 'Unauthorized')
    const target = targetOf(request)
    if (!target) return refusal(404, 'NotFound', 'the server could not find the requested resource')
    const { verb, resource, namespace, name } = target
    if (this.forbidden.has(`${verb} ${resource}`)) {
      const who = 'User "system:serviceaccount:holdfast:worker"'
      const what = `cannot ${verb} resource "${resource}" in the namespace "${namespace}"`
      return refusal(403, 'Forbidden', `${groupOf(resource)} is forbidden: ${who} ${what}`)
    }
    if (verb === 'watch' || verb === 'log') {
      this.#streams.add(response)
      response.on('close', () => this.#streams.delete(response))
    }
    if (verb === 'watch') return serveWatch(this.storage, resource, namespace, query, response)
    if (verb === 'create') return this.#create(target, body)
    if (verb === 'list') return this.#list(target, query)
    const found = this.storage.get(resource, namespace, name)
    if (!found) return notFound(resource, name)
    if (verb === 'log') return serveLog(this.cluster.podNamed(name), found, query, response)
    if (verb === 'get') return { status: 200, body: found }
    if (verb === 'update') return this.#update(target, found, body)
    if (verb === 'delete') return this.#remove(target, found, request)
    return refusal(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource')
  }

  #create({ resource, namespace }: Target, body: KubeObject | null): Reply {
    if (resource === 'pods' || !body) return refusal(405, 'MethodNotAllowed', 'pods are made by Jobs here')
    const problem = problemOf(resource, body)
    if (problem) return refusal(problem.status, problem.reason, problem.message)
    const isQueued = this.#options.kueue && body.metadata.labels?.['kueue.x-k8s.io/queue-name']
    if (resource === 'jobs' && isQueued) body.spec.suspend = true
    const created = this.storage.create(resource, namespace, body)
    if (created) return { status: 201, body: created }
    return refusal(409, 'AlreadyExists', `${groupOf(resource)} "${body.metadata.name}" already exists`)
  }

  #list({ resource, namespace }: Target, query: URLSearchParams): Reply {
    const limit = Number(query.get('limit') || Number.MAX_SAFE_INTEGER)
    const from = Number(query.get('continue') ?? 0)
    const all = this.storage.list(resource, namespace).filter((object) => matches(object, query.get('labelSelector')))
    const next = from + limit < all.length ? { continue: String(from + limit) } : {}
    const metadata = { resourceVersion: String(this.storage.version), ...next }
    return { status: 200, body: { kind: 'List', apiVersion: 'v1', metadata, items: all.slice(from, from + limit) } }
  }

  #update({ resource, namespace }: Target, found: KubeObject, body: KubeObject | null): Reply {
    const { name, resourceVersion } = found.metadata
    const wanted = body?.metadata.resourceVersion
    if (wanted !== undefined && wanted !== resourceVersion) {
      const message = `Operation cannot be fulfilled on ${groupOf(resource)} "${name}": the object has been modified`
      return refusal(409, 'Conflict', message)
    }
    const updated = this.storage.update(resource, namespace, name, (object) => {
      Object.assign(object, body, { metadata: { ...object.metadata, ...body?.metadata } })
    })
    return { status: 200, body: updated }
  }

  #remove({ resource, namespace }: Target, found: KubeObject, { query, body }: KubeRequest): Reply {
    const { name, uid } = found.metadata
    const wanted = body?.preconditions?.uid
    if (wanted !== undefined && wanted !== uid) {
      const why = `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${uid}`
      return refusal(409, 'Conflict', `Operation cannot be fulfilled on ${groupOf(resource)} "${name}": ${why}`)
    }
    const done: Reply = {
      status: 200,
      body: { kind: 'Status', apiVersion: 'v1', status: 'Success', details: { name, uid } },
    }
    if (resource === 'secrets') this.storage.remove(resource, namespace, name)
    if (resource === 'pods') {
      this.cluster.deletePod(namespace, name)
      return { status: 200, body: this.storage.get('pods', namespace, name) }
    }
    if (resource !== 'jobs') return done
    const policy = body?.propagationPolicy ?? query.get('propagationPolicy')
    const job = this.cluster.deleteJob(namespace, name, policy ?? 'Orphan')
    if (!policy) return { ...done, headers: { warning: WARNING } }
    return policy === 'Foreground' ? { status: 200, body: job } : done
  }
}

function targetOf({ method, path, query }: KubeRequest): Target | null {
  const [, namespace, resource, name = '', log] = PATH.exec(path) ?? []
  if (!namespace || !resource || (resource === 'jobs') !== path.startsWith('/apis/batch/')) return null
  const verb = log ? 'log' : verbOf(method, name, query)
  return { namespace, resource: resource as Resource, name, verb }
}

function verbOf(method: string, name: string, query: URLSearchParams): string {
  if (method === 'GET' && query.get('watch') === 'true') return 'watch'
  if (method === 'GET') return name === '' ? 'list' : 'get'
  return { POST: 'create', PUT: 'update', DELETE: 'delete' }[method] ?? 'unknown'
}

async function readRequest(request: IncomingMessage): Promise<KubeRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('utf8')
  const { method = '', url = '', headers } = request
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? null
  return { method, path: pathname, query: searchParams, body: text === '' ? null : JSON.parse(text), token }
}
