/** Label selectors and watches of the in-process Kubernetes API server. */

import type { ServerResponse } from 'node:http'
import { type KubeObject, type KubeStorage, type Resource, type StoredEvent, TooOld } from './kube-api-storage.ts'

const BOOKMARK_MS = 50

export function matches(object: KubeObject, selector: string | null): boolean {
  if (!selector) return true
  return selector.split(',').every((part) => {
    const [key = '', value] = part.split('=')
    return object.metadata.labels?.[key] === value
  })
}

/**
 * A version that is too old is told inside the stream, as the real server does it from its cache. Events of objects that no longer match the
 * selector are left out, which is enough here: our labels never change.
 */
export function serveWatch(
  storage: KubeStorage,
  resource: Resource,
  namespace: string,
  query: URLSearchParams,
  response: ServerResponse,
): null {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.flushHeaders()
  const write = (type: string, object: unknown) => response.write(`${JSON.stringify({ type, object })}\n`)
  const version = Number(query.get('resourceVersion') ?? 0)
  const selector = query.get('labelSelector')
  const pass = (event: StoredEvent) => {
    if (event.resource !== resource || event.namespace !== namespace) return
    if (matches(event.object, selector)) write(event.type, event.object)
  }
  try {
    for (const event of storage.since(resource, namespace, version)) pass(event)
  } catch (error) {
    if (!(error instanceof TooOld)) throw error
    const gone = {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      reason: 'Expired',
      code: 410,
      message: error.message,
    }
    write('ERROR', gone)
    response.end()
    return null
  }
  const unlisten = storage.onEvent(pass)
  const kind = resource === 'jobs' ? 'Job' : 'Pod'
  const bookmarks = setInterval(() => {
    const metadata = { resourceVersion: String(storage.version) }
    if (query.get('allowWatchBookmarks') === 'true') write('BOOKMARK', { kind, metadata })
  }, BOOKMARK_MS)
  const ends = setTimeout(() => response.end(), Number(query.get('timeoutSeconds') ?? 1_800) * 1_000)
  response.on('close', () => {
    unlisten()
    clearInterval(bookmarks)
    clearTimeout(ends)
  })
  return null
}
