/**
 * One POST to an address that somebody else chose. The connection goes to an address that the guard was asked about, and to no
 * other: the guard stands in the look-up of the connection itself, so that a name which changes its meaning in between gains
 * nothing. Redirects are not followed, no proxy of the environment is used, and neither a slow nor an endless answer takes
 * longer or more than it may.
 */

import { lookup as systemLookUp } from 'node:dns/promises'
import http from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import type { AddressGuard } from '../run/address-guard.ts'

export type FoundAddress = { address: string; family: number }
export type LookUp = (host: string) => Promise<FoundAddress[]>

export type Answer = {
  status: number
  headers: http.IncomingHttpHeaders
  /** The first of it; `isCut` says that there was more, or that it did not end in time. */
  body: string
  isCut: boolean
}

export type Post = { url: URL; headers: Record<string, string>; body: Buffer; signal: AbortSignal }

export type GuardedPost = {
  /** Throws AddressRefused, or what went wrong before there was an answer. */
  post(post: Post): Promise<Answer>
  close(): void
}

/** The guard refused every address of the host. */
export class AddressRefused extends Error {
  override name = 'AddressRefused'
}

const READ_BYTES_MAX = 64 * 1024
/** What is kept of it for the log. */
const KEPT_BYTES_MAX = 8 * 1024
const IDLE_CONNECTION_MS = 10_000
const IDLE_CONNECTIONS_MAX = 8
/** How a connection ends that the other side had given up while it was idle. */
const STALE = ['ECONNRESET', 'EPIPE']

export const lookUpAll: LookUp = (host) => systemLookUp(host, { all: true })

export function createGuardedPost(options: {
  guard: AddressGuard
  lookUp?: LookUp
  ca?: string | Buffer
}): GuardedPost {
  const { guard, lookUp = lookUpAll, ca } = options
  const kept = { keepAlive: true, maxFreeSockets: IDLE_CONNECTIONS_MAX, timeout: IDLE_CONNECTION_MS }
  // Agents of our own: the global one may have been told to use a proxy.
  const agents = {
    'http:': new http.Agent(kept),
    'https:': new https.Agent({ ...kept, rejectUnauthorized: true, ...(ca && { ca }) }),
  }

  function connect({ url, headers, body, signal }: Post): http.ClientRequest {
    const { request } = url.protocol === 'https:' ? https : http
    const sending = request({
      method: 'POST',
      protocol: url.protocol,
      hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port,
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, 'content-length': String(body.length) },
      agent: agents[url.protocol as keyof typeof agents],
      lookup: guardedLookUp(url, guard, lookUp),
      signal,
    })
    sending.end(body)
    return sending
  }

  async function post(wanted: Post): Promise<Answer> {
    // A host that is an address is connected to without a look-up.
    const why = guard.refusesUrl(wanted.url)
    if (why !== null) throw new AddressRefused(why)
    for (;;) {
      const sending = connect(wanted)
      try {
        return await read(await answerTo(sending))
      } catch (error) {
        // The receiver had closed an idle connection: it has not refused anything. Each such connection is used up by its try.
        const isStale = sending.reusedSocket && STALE.includes((error as NodeJS.ErrnoException).code ?? '')
        if (!isStale || wanted.signal.aborted) throw error
      }
    }
  }

  return {
    post,
    close() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

/** The look-up of a connection, which answers only with addresses that may be reached. */
export function guardedLookUp(url: URL, guard: AddressGuard, lookUp: LookUp): LookupFunction {
  return (host, options, callback) => {
    const use = (found: FoundAddress[]) => {
      const judged = found.map((one) => ({ one, why: guard.refusesAddress(url, one.address) }))
      const open = judged.filter(({ why }) => why === null).map(({ one }) => one)
      const [first] = open
      const [refused] = judged
      if (!refused) return callback(new Error(`${host} has no address`), '')
      if (!first) return callback(new AddressRefused(refused.why!), '')
      if (options.all) callback(null, open)
      else callback(null, first.address, first.family)
    }
    lookUp(host).then(use, (error) => callback(error, ''))
  }
}

function answerTo(sending: http.ClientRequest): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    sending.on('response', resolve)
    sending.on('error', reject)
    // Such as after an upgrade that nobody asked for.
    sending.on('close', () => reject(new Error('the connection was closed without an answer')))
  })
}

/** Its status has said everything: a body that breaks off or does not end changes nothing. */
async function read(response: http.IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  let bytes = 0
  let isCut = false
  try {
    // Leaving the loop ends the connection.
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if (bytes < KEPT_BYTES_MAX) chunks.push(chunk)
      bytes += chunk.length
      if (bytes > READ_BYTES_MAX) break
    }
  } catch {
    isCut = true
  }
  const body = Buffer.concat(chunks).subarray(0, KEPT_BYTES_MAX).toString()
  return { status: response.statusCode ?? 0, headers: response.headers, body, isCut: isCut || bytes > KEPT_BYTES_MAX }
}
