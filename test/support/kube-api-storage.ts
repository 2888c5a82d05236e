/**
 * The objects of the in-process Kubernetes API server, as etcd keeps them: every change takes the next of one series of resource versions and is
 * kept as an event, from which watches begin. Compaction forgets old events; a watch from before them is told 410.
 */

import { randomUUID } from 'node:crypto'

// biome-ignore lint/suspicious/noExplicitAny: objects are what clients send, plus what the server adds.
export type KubeObject = { metadata: any; [key: string]: any }
export type Resource = 'jobs' | 'pods' | 'secrets'
export type StoredEvent = {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  resource: Resource
  namespace: string
  version: number
  object: KubeObject
}

export class TooOld extends Error {}

export class KubeStorage {
  version = 1000
  readonly #objects = new Map<string, KubeObject>()
  #events: StoredEvent[] = []
  #oldest = 1000
  readonly #listeners = new Set<(event: StoredEvent) => void>()

  get(resource: Resource, namespace: string, name: string): KubeObject | undefined {
    return structuredClone(this.#objects.get(keyOf(resource, namespace, name)))
  }

  list(resource: Resource, namespace: string): KubeObject[] {
    const prefix = keyOf(resource, namespace, '')
    const found = [...this.#objects].filter(([key]) => key.startsWith(prefix))
    return found.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => structuredClone(object))
  }

  /** Undefined when there is one of that name. */
  create(resource: Resource, namespace: string, object: KubeObject): KubeObject | undefined {
    const key = keyOf(resource, namespace, object.metadata.name)
    if (this.#objects.has(key)) return undefined
    const created = structuredClone(object)
    Object.assign(created.metadata, { namespace, uid: randomUUID(), creationTimestamp: now() })
    return this.#write('ADDED', resource, namespace, created)
  }

  /** Undefined when there is none. */
  update(resource: Resource, namespace: string, name: string, change: (object: KubeObject) => void) {
    const object = this.get(resource, namespace, name)
    if (!object) return undefined
    change(object)
    return this.#write('MODIFIED', resource, namespace, object)
  }

  remove(resource: Resource, namespace: string, name: string): KubeObject | undefined {
    const object = this.get(resource, namespace, name)
    if (!object) return undefined
    this.#objects.delete(keyOf(resource, namespace, name))
    this.#emit('DELETED', resource, namespace, object)
    return object
  }

  /** Everything since `version`, which is left out. Throws `TooOld`. */
  since(resource: Resource, namespace: string, version: number): StoredEvent[] {
    if (version < this.#oldest) throw new TooOld(`too old resource version: ${version} (${this.#oldest})`)
    return this.#events.filter(
      (event) => event.version > version && event.resource === resource && event.namespace === namespace,
    )
  }

  onEvent(listener: (event: StoredEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  compact(): void {
    this.version += 1
    this.#oldest = this.version
    this.#events = []
  }

  #write(type: 'ADDED' | 'MODIFIED', resource: Resource, namespace: string, object: KubeObject): KubeObject {
    this.#objects.set(keyOf(resource, namespace, object.metadata.name), object)
    this.#emit(type, resource, namespace, object)
    return structuredClone(object)
  }

  #emit(type: StoredEvent['type'], resource: Resource, namespace: string, object: KubeObject): void {
    this.version += 1
    object.metadata.resourceVersion = String(this.version)
    const event = { type, resource, namespace, version: this.version, object: structuredClone(object) }
    this.#events.push(event)
    for (const listener of this.#listeners) listener(event)
  }
}

export function now(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, 'Z')
}

function keyOf(resource: Resource, namespace: string, name: string): string {
  return `${resource}/${namespace}/${name}`
}
