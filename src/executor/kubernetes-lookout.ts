/**
 * Tells attempts that something about their Job or its pods may have changed, for all attempts in one namespace with two lists and two watches.
 *
 * It only gives hints: whoever gets one looks for itself. What a watch loses (a connection, a version that is too old, events during a
 * restart of the API server) comes back with the next list, which is made anew after every trouble and every so often in any case.
 */

import type { Kind, KubernetesClient } from './kubernetes-client.ts'
import { KubernetesRefused } from './kubernetes-http.ts'
import { attemptOf, jobName } from './kubernetes-job.ts'
import type { AnyObject } from './kubernetes-objects.ts'
import { Pause } from './pause.ts'

export type LookoutTimings = {
  /** How often everything is listed anew, watch or no watch. */
  relistMs: number
  /** First wait after trouble; it doubles. */
  retryMs: number
}

/** Objects by name: their version, and the Job whose follower is told of them. */
type Seen = Map<string, { resourceVersion: string; follower: string | null }>

const RETRY_MS_MAX = 15_000

export class KubernetesLookout {
  readonly #client: KubernetesClient
  readonly #namespace: string
  readonly #labelSelector: string
  readonly #timings: LookoutTimings
  readonly #followers = new Map<string, () => void>()
  #stop: AbortController | null = null

  constructor(client: KubernetesClient, namespace: string, labelSelector: string, timings: LookoutTimings) {
    this.#client = client
    this.#namespace = namespace
    this.#labelSelector = labelSelector
    this.#timings = timings
  }

  /** Answers how to stop following. Nothing is asked of Kubernetes while nobody follows. */
  follow(jobName: string, onChange: () => void): () => void {
    this.#followers.set(jobName, onChange)
    if (this.#stop === null) {
      this.#stop = new AbortController()
      for (const kind of ['jobs', 'pods'] as const) void this.#keepWatching(kind, this.#stop.signal)
    }
    return () => {
      // Who follows now may be another, after an adoption by the same worker.
      if (this.#followers.get(jobName) === onChange) this.#followers.delete(jobName)
      if (this.#followers.size === 0) this.close()
    }
  }

  close(): void {
    this.#stop?.abort()
    this.#stop = null
  }

  async #keepWatching(kind: Kind, signal: AbortSignal): Promise<void> {
    const pause = new Pause()
    signal.addEventListener('abort', () => pause.end())
    const seen: Seen = new Map()
    for (let troubles = 0; !signal.aborted; ) {
      try {
        await this.#listAndWatch(kind, seen, signal)
        troubles = 0
      } catch (error) {
        // A version that is too old is no trouble: it happens to every watch that was quiet for long.
        if (error instanceof KubernetesRefused && error.status === 410) troubles = 0
        else troubles += 1
        const waitMs = Math.min(RETRY_MS_MAX, this.#timings.retryMs * 2 ** Math.min(troubles, 20))
        if (!signal.aborted) await pause.wait(waitMs * (0.75 + 0.5 * Math.random()))
      }
    }
  }

  /** One list, and watches one after the other from there until it is time for the next list. */
  async #listAndWatch(kind: Kind, seen: Seen, signal: AbortSignal): Promise<void> {
    const listed = await this.#client.list(kind, this.#namespace, this.#labelSelector)
    this.#compare(listed.items, seen)
    let { resourceVersion } = listed
    const relist = AbortSignal.timeout(this.#timings.relistMs)
    while (!signal.aborted && !relist.aborted) {
      const either = AbortSignal.any([signal, relist])
      const options = { labelSelector: this.#labelSelector, resourceVersion, signal: either }
      try {
        await this.#client.watch(kind, this.#namespace, options, ({ type, object }) => {
          resourceVersion = object.metadata.resourceVersion ?? resourceVersion
          if (type !== 'BOOKMARK') this.#note(object, seen)
        })
      } catch (error) {
        if (!relist.aborted) throw error
      }
    }
  }

  /** Tells those whose objects are not as they were at the last look, gone ones among them. */
  #compare(items: AnyObject[], seen: Seen): void {
    const gone = new Set(seen.keys())
    for (const object of items) {
      const { name = '', resourceVersion = '' } = object.metadata
      gone.delete(name)
      if (seen.get(name)?.resourceVersion !== resourceVersion) this.#note(object, seen)
    }
    for (const name of gone) {
      this.#tell(seen.get(name)?.follower ?? null)
      seen.delete(name)
    }
  }

  #note(object: AnyObject, seen: Seen): void {
    const { name = '', resourceVersion = '' } = object.metadata
    const attempt = attemptOf(object)
    const follower = attempt && jobName(attempt)
    seen.set(name, { resourceVersion, follower })
    this.#tell(follower)
  }

  #tell(follower: string | null): void {
    if (follower !== null) this.#followers.get(follower)?.()
  }
}
