/**
 * Webhooks on real sockets: what is sent, what each answer means, and that nothing goes where it may not or takes longer than
 * it may.
 */

import { execFile, execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Webhook } from 'standardwebhooks'
import { describe, expect, onTestFinished, test } from 'vitest'
import { claimedDelivery } from '../../test/support/claimed-delivery.ts'
import { answers, loses, saysNothing, scriptedServer } from '../../test/support/scripted-http.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { createWebhookSender, type WebhookSenderOptions } from './webhook-sender.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const OLD_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
const NOW_AND_THEN = new AbortController().signal

function senderOf(options: Partial<WebhookSenderOptions> = {}) {
  const sender = createWebhookSender({ allow: ['127.0.0.1'], publicUrl: 'https://h.example.org', ...options })
  onTestFinished(() => sender.close())
  return sender
}

const deliveryTo = (url: string, oldSecret: string | null = null) =>
  claimedDelivery({
    messageId: '0198aa_3',
    data: { type: 'run.succeeded', timestamp: '2026-01-02T03:04:05.678Z', data: { run_id: 'r-1', title: 'Ünïcödé' } },
    to: { channel: 'webhook', url, secret: SECRET, oldSecret },
  })

const send = (url: string, options: Partial<WebhookSenderOptions> = {}, stop = NOW_AND_THEN) =>
  senderOf(options).send(deliveryTo(url), stop)

/** A server that speaks bytes and not HTTP. */
async function rawServer(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onConnection(socket)
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${await portOf(server)}/`
}

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return (server.address() as AddressInfo).port
}

describe('what is sent', () => {
  test('is the fact with its links, signed with both secrets while they change', async () => {
    const server = await scriptedServer(answers(204, ''))
    const url = `${server.url}/hook?of=me`
    const handed = await senderOf().send(deliveryTo(url, OLD_SECRET), NOW_AND_THEN)
    expect(handed).toMatchObject({ outcome: 'delivered', error: null })
    const [seen] = server.seen
    expect(seen).toMatchObject({ method: 'POST', path: '/hook?of=me', headers: { 'webhook-id': '0198aa_3' } })
    expect(seen!.headers['content-type']).toBe('application/json')
    expect(seen!.json()).toEqual({
      type: 'run.succeeded',
      timestamp: '2026-01-02T03:04:05.678Z',
      data: { run_id: 'r-1', title: 'Ünïcödé', links: { self: 'https://h.example.org/runs/r-1' } },
    })
    const headers = seen!.headers as Record<string, string>
    for (const secret of [SECRET, OLD_SECRET]) new Webhook(secret).verify(seen!.text, headers)
  })

  test('names the trace that the run is part of', async () => {
    const server = await scriptedServer(answers(204, ''))
    const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const data = { type: 'run.created', timestamp: '2026-01-02T03:04:05.678Z', data: { trace_parent: trace } }
    await senderOf().send({ ...deliveryTo(server.url), data }, NOW_AND_THEN)
    await send(server.url)
    expect(server.seen.map(({ headers }) => headers.traceparent)).toEqual([trace, undefined])
  })

  test('is in the log without signature, secret and query', async () => {
    const server = await scriptedServer(answers(200, 'thanks', { 'content-type': 'text/plain' }))
    const handed = await send(`${server.url}/hook?token=canary`)
    expect(handed.request).toMatchObject({
      method: 'POST',
      url: `${server.url}/hook`,
      headers: { 'webhook-id': '0198aa_3', 'webhook-timestamp': expect.stringMatching(/^\d{10}$/) },
      body: server.seen[0]!.text,
    })
    expect(handed.response).toEqual({
      status: 200,
      headers: { 'content-type': 'text/plain' },
      body: 'thanks',
      body_cut: false,
    })
    expect(JSON.stringify(handed)).not.toMatch(/canary|whsec|v1,/)
  })

  test('has the same id and body in each repeat', async () => {
    const server = await scriptedServer(answers(500), answers(200))
    const sender = senderOf()
    const delivery = deliveryTo(server.url)
    for (const outcome of ['failed', 'delivered'])
      expect(await sender.send(delivery, NOW_AND_THEN)).toMatchObject({ outcome })
    const [first, second] = server.seen.map(({ headers, text }) => [headers['webhook-id'], text])
    expect(first).toEqual(second)
  })
})

describe('what an answer means', () => {
  test.each([
    [200, 'delivered'],
    [201, 'delivered'],
    [299, 'delivered'],
    [300, 'failed'],
    [304, 'failed'],
    [400, 'failed'],
    [404, 'failed'],
    [410, 'gone'],
    [429, 'failed'],
    [500, 'failed'],
    [503, 'failed'],
  ])('%i is %s', async (status, outcome) => {
    const server = await scriptedServer(answers(status, 'said'))
    expect(await send(server.url)).toMatchObject({ outcome, response: { status } })
  })

  test('Retry-After is told in milliseconds', async () => {
    const server = await scriptedServer(answers(429, '', { 'retry-after': '120' }), answers(503))
    expect(await send(server.url)).toMatchObject({ outcome: 'failed', retryAfterMs: 120_000 })
    expect(await send(server.url)).not.toHaveProperty('retryAfterMs')
  })

  test('a redirect to metadata is not followed', async () => {
    const server = await scriptedServer(answers(302, '', { location: 'http://169.254.169.254/latest/meta-data/' }))
    expect(await send(server.url)).toMatchObject({
      outcome: 'failed',
      error: 'answered 302; redirects are not followed',
      response: { headers: { location: 'http://169.254.169.254/latest/meta-data/' } },
    })
    expect(server.seen).toHaveLength(1)
  })

  test('a redirect to ourselves is not followed either', async () => {
    const server = await scriptedServer()
    server.otherwise(answers(307, '', { location: server.url }))
    expect(await send(server.url)).toMatchObject({ outcome: 'failed' })
    expect(server.seen).toHaveLength(1)
  })
})

describe('what goes wrong', () => {
  test('a connection that breaks is a failure', async () => {
    const server = await scriptedServer(loses())
    expect(await send(server.url)).toMatchObject({ outcome: 'failed', response: null, error: expect.any(String) })
  })

  test('an idle connection that the receiver has closed is none: the message goes over a new one', async () => {
    const server = await scriptedServer(answers(200), loses(), answers(200))
    const sender = senderOf()
    for (const time of ['first', 'second'])
      expect([time, (await sender.send(deliveryTo(server.url), NOW_AND_THEN)).outcome]).toEqual([time, 'delivered'])
    expect(server.seen.map(({ headers }) => headers['webhook-id'])).toEqual(Array(3).fill('0198aa_3'))
  })

  test('a port where nobody listens is a failure, and a name that nobody knows', async () => {
    const lookUp = () => Promise.reject(new Error('getaddrinfo ENOTFOUND hooks.test'))
    expect(await send('http://127.0.0.1:1/')).toMatchObject({ outcome: 'failed', error: /ECONNREFUSED/ })
    expect(await send('https://hooks.test/', { lookUp })).toMatchObject({ outcome: 'failed', error: /ENOTFOUND/ })
  })

  test('what does not speak HTTP is a failure', async () => {
    const url = await rawServer((socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'))
    expect(await send(url)).toMatchObject({ outcome: 'failed', response: null })
  })

  test('an upgrade that nobody asked for is a failure', async () => {
    const head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
    const url = await rawServer((socket) => socket.once('data', () => socket.write(head)))
    expect(await send(url)).toMatchObject({ outcome: 'failed' })
  })

  test('a message that cannot be signed throws before anything is sent', async () => {
    const server = await scriptedServer(answers(200))
    const delivery = {
      ...deliveryTo(server.url),
      to: { channel: 'webhook', url: server.url, secret: '', oldSecret: null } as const,
    }
    await expect(senderOf().send(delivery, NOW_AND_THEN)).rejects.toThrow('no secret')
    expect(server.seen).toHaveLength(0)
  })
})

describe('a slow receiver', () => {
  const timeoutMs = 300

  test('that says nothing is a failure after the time for all of it', async () => {
    const server = await scriptedServer(saysNothing)
    expect(await send(server.url, { timeoutMs })).toMatchObject({ outcome: 'failed', error: 'no answer within 0.3 s' })
  })

  test('that drips the head of its answer is, too', async () => {
    const url = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const drip = setInterval(() => socket.write('x'), 20)
      socket.on('close', () => clearInterval(drip))
    })
    expect(await send(url, { timeoutMs })).toMatchObject({ outcome: 'failed', error: 'no answer within 0.3 s' })
  })

  test('that drips the rest after it said 200 has taken the message, and is left after the same time', async () => {
    let closed = false
    const server = await scriptedServer((_seen, response) => {
      response.writeHead(200)
      const drip = setInterval(() => response.write('x'), 20)
      response.on('close', () => {
        closed = true
        clearInterval(drip)
      })
    })
    const began = performance.now()
    expect(await send(server.url, { timeoutMs })).toMatchObject({ outcome: 'delivered', response: { body_cut: true } })
    expect(performance.now() - began).toBeLessThan(5_000)
    await expect.poll(() => closed).toBe(true)
  })

  test('whose name is not resolved in time is a failure', async () => {
    const lookUp = () => new Promise<never>(() => {})
    expect(await send('https://hooks.test/', { timeoutMs, lookUp })).toMatchObject({ error: 'no answer within 0.3 s' })
  })

  test('that does not end its answer is left after 64 KB', async () => {
    let written = 0
    const server = await scriptedServer((_seen, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      const flood = () => {
        while (!response.destroyed && response.write('x'.repeat(10_000))) written += 10_000
      }
      response.on('drain', flood)
      flood()
    })
    const handed = await send(server.url)
    expect(handed).toMatchObject({ outcome: 'delivered', response: { body_cut: true } })
    expect((handed.response as { body: string }).body).toHaveLength(8 * 1024)
    expect(written).toBeLessThan(20_000_000)
  })

  test('is left at once when the relay stops', async () => {
    const stop = new AbortController()
    const server = await scriptedServer(() => stop.abort())
    expect(await send(server.url, {}, stop.signal)).toMatchObject({ outcome: 'failed', response: null })
  })
})

describe('where nothing is sent', () => {
  const none: string[] = []

  test.each([
    'http://127.0.0.1:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f.1:PORT/',
    'http://0177.1:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
    'http://localhost:PORT/',
    'http://0:PORT/',
  ])('%s is refused without a connection', async (url) => {
    const server = await scriptedServer(answers(200))
    const handed = await send(url.replace('PORT', new URL(server.url).port), { allow: none })
    expect(handed).toMatchObject({ outcome: 'refused', response: null, error: /^Not sent: .*HOLDFAST_WEBHOOK_ALLOW/ })
    expect(server.seen).toHaveLength(0)
  })

  test.each(['http://169.254.169.254/', 'https://[64:ff9b::a9fe:a9fe]/', 'https://[fd00:ec2::254]/'])(
    '%s is refused',
    async (url) => {
      expect(await send(url, { allow: none })).toMatchObject({ outcome: 'refused' })
    },
  )

  test.each(['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.0.0.1', '169.254.169.254', '64:ff9b::7f00:1'])(
    'a name that resolves to %s is refused',
    async (address) => {
      const lookUp = async () => [{ address, family: address.includes(':') ? 6 : 4 }]
      const handed = await send('https://hooks.test/', { allow: none, lookUp })
      expect(handed).toMatchObject({ outcome: 'refused', error: /hooks\.test leads to/ })
    },
  )

  test('of several addresses of a name only those are tried that may be reached', async () => {
    const server = await scriptedServer(answers(200))
    const lookUp = async () => [
      { address: '127.0.0.2', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ]
    const url = `http://hooks.test:${new URL(server.url).port}/`
    expect(await send(url, { lookUp })).toMatchObject({ outcome: 'delivered' })
  })

  test('a name that changes its meaning gains nothing: the address that was judged is the one connected to', async () => {
    const server = await scriptedServer(answers(200))
    const { port } = new URL(server.url)
    const turns = ['127.0.0.1', '127.0.0.2', '127.0.0.2']
    const lookUp = async () => [{ address: turns.shift()!, family: 4 }]
    const sender = senderOf({ lookUp })
    // Judged and connected to with one look-up.
    const delivery = deliveryTo(`http://hooks.test:${port}/`)
    expect(await sender.send(delivery, NOW_AND_THEN)).toMatchObject({ outcome: 'delivered' })
    expect(turns).toHaveLength(2)
    // At the next connection it leads elsewhere.
    const rebound = await senderOf({ lookUp }).send(delivery, NOW_AND_THEN)
    expect(rebound).toMatchObject({ outcome: 'refused', error: /leads to a loopback/ })
    expect(server.seen).toHaveLength(1)
  })

  test('a URL that is none is refused', async () => {
    expect(await send('https://')).toMatchObject({ outcome: 'refused', request: null })
  })
})

test('no proxy of the environment is used', async () => {
  const [server, proxy] = [await scriptedServer(answers(200)), await scriptedServer(answers(502))]
  const program = `
    const { createWebhookSender } = await import(${JSON.stringify(new URL('./webhook-sender.ts', import.meta.url).href)})
    const sender = createWebhookSender({ allow: ['127.0.0.1'], publicUrl: null })
    const to = { channel: 'webhook', url: ${JSON.stringify(server.url)}, secret: 'whsec_c2VjcmV0', oldSecret: null }
    const handed = await sender.send({ messageId: 'a', data: {}, to }, new AbortController().signal)
    await sender.close()
    process.stdout.write(handed.outcome)`
  const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy.url, http_proxy: proxy.url, HTTPS_PROXY: proxy.url }
  const child = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env })
  expect(child.stdout).toBe('delivered')
  expect([server.seen.length, proxy.seen.length]).toEqual([1, 0])
})

describe.skipIf(!hasOpenssl())('over TLS', () => {
  async function tlsServer() {
    const folder = await tempFolder()
    onTestFinished(folder.remove)
    const subject = ['-subj', '/CN=hooks.test', '-addext', 'subjectAltName=DNS:hooks.test']
    const files = ['-keyout', 'key.pem', '-out', 'cert.pem', '-nodes', '-days', '2']
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
    execFileSync('openssl', ['req', '-x509', ...key, ...files, ...subject], { cwd: folder.path, stdio: 'ignore' })
    const [keyPem, cert] = await Promise.all(['key.pem', 'cert.pem'].map((name) => readFile(join(folder.path, name))))
    const server = createTlsServer({ key: keyPem, cert }, (request, response) => {
      request.resume().on('end', () => response.end('ok'))
    })
    onTestFinished(() => {
      server.close()
      server.closeAllConnections()
    })
    return { port: await portOf(server), ca: cert! }
  }
  const lookUp = async () => [{ address: '127.0.0.1', family: 4 }]

  test('a receiver whose certificate is right is told, and no other', async () => {
    const { port, ca } = await tlsServer()
    const to = (host: string, more: Partial<WebhookSenderOptions>) =>
      send(`https://${host}:${port}/`, { lookUp, ...more })
    expect(await to('hooks.test', { ca })).toMatchObject({ outcome: 'delivered' })
    expect(await to('hooks.test', {})).toMatchObject({ outcome: 'failed', error: /certificate/ })
    expect(await to('other.test', { ca })).toMatchObject({ outcome: 'failed', error: /altnames/ })
  })
})

function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
