/** The files that the attempts of a run left: listed, and downloaded one at a time. */

import { pages } from './list.ts'
import type { CallOptions, Transport } from './transport.ts'
import type { Artifact } from './wire.ts'

export type ArtifactsOptions = CallOptions & {
  /** Only what this attempt left. */
  attempt?: number
}

export function allArtifacts(
  transport: Transport,
  runId: string,
  { attempt, ...options }: ArtifactsOptions = {},
): AsyncGenerator<Artifact, void, void> {
  return pages<Artifact>(transport, `/runs/${encodeURIComponent(runId)}/artifacts`, { attempt }, options)
}

export function openArtifact(
  transport: Transport,
  runId: string,
  { attempt, name }: Pick<Artifact, 'attempt' | 'name'>,
  { signal, timeoutMs }: CallOptions = {},
): Promise<Response> {
  const path = `/runs/${encodeURIComponent(runId)}/artifacts/${attempt}/${encodeURIComponent(name)}`
  const headers = { Accept: 'application/octet-stream, application/problem+json' }
  return transport.open({ method: 'GET', path, headers, repeat: 'always', signal, timeoutMs })
}
