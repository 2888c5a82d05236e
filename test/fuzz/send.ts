/** One request over a real socket. A stream is left after its first bytes, as a reader that loses interest would. */

import { type Agent, request as httpRequest } from 'node:http'
import type { FuzzRequest } from './requests.ts'

const ANSWER_MS_MAX = 15_000

export type FuzzAnswer = {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
  isStream: boolean
}

export function send(request: FuzzRequest, to: { port: number; agent: Agent }): Promise<FuzzAnswer> {
  const { method, path, headers, body } = request
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      {
        host: '127.0.0.1',
        port: to.port,
        agent: to.agent,
        method,
        path,
        headers: headersOf(request),
        timeout: ANSWER_MS_MAX,
      },
      (incoming) => {
        const status = incoming.statusCode!
        const isStream = String(incoming.headers['content-type']).startsWith('text/event-stream')
        if (isStream) {
          outgoing.destroy()
          resolve({ status, headers: incoming.headers, body: '', isStream })
          return
        }
        const chunks: Buffer[] = []
        incoming.on('data', (chunk) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () =>
          resolve({ status, headers: incoming.headers, body: Buffer.concat(chunks).toString(), isStream }),
        )
      },
    )
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${ANSWER_MS_MAX} ms`)))
    outgoing.on('error', (error) =>
      reject(new Error(`${method} ${path} ${JSON.stringify(headers)}: ${error.message}`, { cause: error })),
    )
    outgoing.end(body ?? undefined)
  })
}

function headersOf({ method, headers, body }: FuzzRequest): Record<string, string> {
  if (body) return { ...headers, 'content-length': String(body.length) }
  return method === 'GET' ? headers : { ...headers, 'content-length': '0' }
}
