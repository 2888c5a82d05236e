/** Pod logs of the in-process Kubernetes API server: follow, timestamps, sinceTime (whole seconds, as the kubelet takes it), tailLines, limitBytes. */

import type { ServerResponse } from 'node:http'
import type { FakePod } from './kube-api-pod.ts'
import { notFound, type Reply, refusal } from './kube-api-reply.ts'
import type { KubeObject } from './kube-api-storage.ts'

export function serveLog(
  pod: FakePod | undefined,
  object: KubeObject,
  query: URLSearchParams,
  response: ServerResponse,
): Reply | null {
  const { name } = object.metadata
  if (!pod) return notFound('pods', name)
  const own = object.spec.containers[0].name
  const container = query.get('container') ?? own
  if (container !== own) return refusal(400, 'BadRequest', `container ${container} is not valid for pod ${name}`)
  const state = object.status?.containerStatuses?.[0]?.state ?? {}
  if (!state.running && !state.terminated) {
    const why = state.waiting?.reason ?? 'ContainerCreating'
    return refusal(400, 'BadRequest', `container "${own}" in pod "${name}" is waiting to start: ${why}`)
  }
  const since = (query.get('sinceTime') ?? '').slice(0, 19)
  const kept = pod.lines.filter(({ at }) => at.slice(0, 19) >= since)
  const tail = query.get('tailLines')
  let next = pod.lines.length - (tail === null ? kept.length : Math.min(kept.length, Number(tail)))
  let room = Number(query.get('limitBytes') ?? Number.POSITIVE_INFINITY)
  response.writeHead(200, { 'content-type': 'text/plain' })
  response.flushHeaders()
  const write = () => {
    for (; next < pod.lines.length && room > 0; next += 1) {
      const { at, text } = pod.lines[next]!
      const bytes = Buffer.from(`${query.get('timestamps') === 'true' ? `${at} ` : ''}${text}\n`).subarray(0, room)
      room -= bytes.length
      response.write(bytes)
    }
    if (query.get('follow') !== 'true' || pod.isOver || room <= 0) response.end()
  }
  const unlisten = pod.onLines(write)
  response.on('close', unlisten)
  write()
  return null
}
