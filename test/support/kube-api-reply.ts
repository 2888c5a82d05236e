/** Answers of the in-process Kubernetes API server, refusals among them as the real one words them. */

import type { ServerResponse } from 'node:http'

export type Reply = { status: number; body: unknown; headers?: Record<string, string> }

export function refusal(status: number, reason: string, message: string): Reply {
  return {
    status,
    body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code: status },
  }
}

export function notFound(resource: string, name: string): Reply {
  return refusal(404, 'NotFound', `${groupOf(resource)} "${name}" not found`)
}

export function groupOf(resource: string): string {
  return resource === 'jobs' ? 'jobs.batch' : resource
}

export function send(response: ServerResponse, { status, body, headers }: Reply): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}
