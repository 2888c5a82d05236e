import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  hasOpenssl,
  headerOf,
  type MailServer,
  makeCertificate,
  startMailServer,
} from '../../test/support/mail-server.ts'
import type { OutgoingMail } from './mail-transport.ts'
import { createSmtpTransport, needsTls, type SmtpOptions } from './smtp.ts'

const QUICK = AbortSignal.timeout(60_000)
let server: MailServer
beforeAll(async () => {
  server = await startMailServer()
})
afterAll(() => server.stop())

let mails = 0
function mailTo(to: string, more: Partial<OutgoingMail> = {}): OutgoingMail {
  mails += 1
  return {
    from: 'Holdfast <holdfast@example.org>',
    to,
    subject: 'A subject',
    text: 'text\n',
    html: '<p>text</p>\n',
    messageId: `<mail-${mails}@example.org>`,
    date: new Date('2026-01-02T03:04:05Z'),
    headers: { 'List-Id': '<progress.mail.example.org>' },
    ...more,
  }
}

function transport(options: Partial<SmtpOptions> = {}) {
  const made = createSmtpTransport({ url: `smtp://127.0.0.1:${server.port}`, ...options })
  onTestFinished(() => made.close())
  return made
}

const cameTo = (to: string) => server.mails.filter((mail) => mail.to === to)

test('a mail arrives with its id, its date, its headers, and text and HTML', async () => {
  const mail = mailTo('whole@example.org', { subject: 'Größe “€”' })
  const handed = await transport().send(mail, QUICK)
  expect(handed).toMatchObject({ outcome: 'delivered', error: null })
  const [received] = cameTo('whole@example.org')
  expect(headerOf(received!, 'Message-ID')).toBe(mail.messageId)
  expect(headerOf(received!, 'Date')).toBe('Fri, 02 Jan 2026 03:04:05 +0000')
  expect(headerOf(received!, 'List-Id')).toBe('<progress.mail.example.org>')
  expect(headerOf(received!, 'Subject')).toMatch(/^=\?UTF-8\?/i)
  expect(received!.raw).toMatch(/text\/plain[\s\S]+text\/html/)
  expect(received!.from).toBe('holdfast@example.org')
})

test('mails one after the other share a connection', async () => {
  const one = transport({ lanes: 1 })
  for (let sent = 0; sent < 3; sent += 1) await one.send(mailTo('shared@example.org'), QUICK)
  expect(new Set(cameTo('shared@example.org').map(({ connection }) => connection)).size).toBe(1)
})

test('more mails than lanes wait for their turn, and all arrive', async () => {
  const two = transport({ lanes: 2 })
  const sent = await Promise.all(Array.from({ length: 10 }, () => two.send(mailTo('turns@example.org'), QUICK)))
  expect(sent.map(({ outcome }) => outcome)).toEqual(Array(10).fill('delivered'))
  expect(cameTo('turns@example.org')).toHaveLength(10)
})

test.each([
  ['a receiver that is busy', '452-busy@example.org', 'failed', 452],
  ['a receiver that does not exist', '550-nobody@example.org', 'refused', 550],
  ['a relay that does not know us', 'rights-none@example.org', 'failed', 550],
  ['a message that is not wanted now', 'data-451-later@example.org', 'failed', 451],
  ['a message that is called spam', 'data-554-spam@example.org', 'failed', 554],
])('%s', async (_what, to, outcome, code) => {
  const handed = await transport().send(mailTo(to), QUICK)
  expect(handed).toMatchObject({ outcome, response: { code } })
  expect(handed.error).toContain(String(code))
})

test('a refused receiver leaves the connection good for the next', async () => {
  const one = transport({ lanes: 1 })
  await one.send(mailTo('550-first@example.org'), QUICK)
  expect((await one.send(mailTo('second@example.org'), QUICK)).outcome).toBe('delivered')
})

test('an address with a comma is one address, and never two receivers', async () => {
  const handed = await transport().send(mailTo('a@example.org, b@example.org'), QUICK)
  expect(handed.outcome).not.toBe('delivered')
  expect(cameTo('b@example.org')).toEqual([])
})

test('a server that never answers is given up on when the time is over, and other mails pass it', async () => {
  const two = transport({ lanes: 2 })
  const stop = new AbortController()
  const stalled = two.send(mailTo('stall-1@example.org'), stop.signal)
  expect((await two.send(mailTo('passing@example.org'), QUICK)).outcome).toBe('delivered')
  stop.abort()
  expect(await stalled).toMatchObject({ outcome: 'failed', error: 'The mail server took too long.' })
})

test('after a mail was given up on, its lane is good for the next', async () => {
  const one = transport({ lanes: 1 })
  const stop = new AbortController()
  const stalled = one.send(mailTo('stall-2@example.org'), stop.signal)
  const behind = new AbortController()
  const waiting = one.send(mailTo('behind@example.org'), behind.signal)
  const patient = one.send(mailTo('patient@example.org'), QUICK)
  behind.abort()
  expect((await waiting).outcome).toBe('failed')
  stop.abort()
  await stalled
  expect((await patient).outcome).toBe('delivered')
  expect(cameTo('behind@example.org')).toEqual([])
})

test('a mail whose time is over before it begins is not sent', async () => {
  expect((await transport().send(mailTo('late@example.org'), AbortSignal.abort())).outcome).toBe('failed')
  expect(cameTo('late@example.org')).toEqual([])
})

test('a connection cut after the message: not delivered, and what came carries the same id', async () => {
  const mail = mailTo('cut-1@example.org')
  const handed = await transport().send(mail, QUICK)
  expect(handed.outcome).toBe('failed')
  const ids = cameTo('cut-1@example.org').map((received) => headerOf(received, 'Message-ID'))
  expect(new Set(ids)).toEqual(new Set([mail.messageId]))
})

test('no server at all is a failure that can be tried again', async () => {
  const nobody = createServer().listen(0, '127.0.0.1')
  await once(nobody, 'listening')
  const { port } = nobody.address() as { port: number }
  nobody.close()
  const handed = await transport({ url: `smtp://127.0.0.1:${port}` }).send(mailTo('down@example.org'), QUICK)
  expect(handed).toMatchObject({ outcome: 'failed', response: null })
  expect(handed.error).toContain('ECONNREFUSED')
})

test.each([
  ['smtp://user:password@mail.example.org:587', true],
  ['smtp://user:password@localhost.example.org', true],
  ['smtp://mail.example.org:25', false],
  ['smtp://user:password@localhost:1025', false],
  ['smtp://user:password@[::1]:1025', false],
  ['smtp://user:password@mail.example.org?ignoreTLS=true', false],
])('%s: TLS is demanded: %s', (url, isNeeded) => {
  expect(needsTls(new URL(url))).toBe(isNeeded)
})

describe.skipIf(!hasOpenssl())('with TLS and a password', () => {
  const user = { name: 'holdfast', password: 'correct horse' }
  let pair: { key: string; cert: string }
  let safe: MailServer
  let tls: number
  let startTls: number
  beforeAll(async () => {
    pair = await makeCertificate()
    safe = await startMailServer({ ...pair, user, secure: true }, { ...pair, user })
    ;[tls, startTls] = safe.ports as [number, number]
  })
  afterAll(() => safe.stop())

  const at = (scheme: string, port: number, password = 'correct%20horse', query = '') =>
    `${scheme}://holdfast:${password}@localhost:${port}${query}`

  test('TLS from the first byte', async () => {
    const handed = await transport({ url: at('smtps', tls), ca: pair.cert }).send(mailTo('tls@example.org'), QUICK)
    expect(handed).toMatchObject({ outcome: 'delivered' })
    expect(safe.mails.find(({ port }) => port === tls)).toMatchObject({ isSecure: true, user: 'holdfast' })
  })

  test('STARTTLS before the password', async () => {
    const handed = await transport({ url: at('smtp', startTls), ca: pair.cert }).send(mailTo('tls@example.org'), QUICK)
    expect(handed).toMatchObject({ outcome: 'delivered' })
    expect(safe.mails.find(({ port }) => port === startTls)).toMatchObject({ isSecure: true, user: 'holdfast' })
  })

  test('a certificate that nobody vouches for is not trusted', async () => {
    const handed = await transport({ url: at('smtps', tls) }).send(mailTo('untrusted@example.org'), QUICK)
    expect(handed).toMatchObject({ outcome: 'failed', response: null })
    expect(handed.error).toMatch(/self-signed/)
  })

  test('a wrong password is for the operator to mend, and is told to nobody', async () => {
    const url = at('smtps', tls, 'battery-staple')
    const handed = await transport({ url, ca: pair.cert }).send(mailTo('password@example.org'), QUICK)
    expect(handed).toMatchObject({ outcome: 'failed', response: { code: 535 } })
    const shown = JSON.stringify(handed)
    expect(shown).not.toContain('battery-staple')
    expect(shown).not.toContain(Buffer.from('\0holdfast\0battery-staple').toString('base64'))
  })

  test('where a connection must be private, no password goes over one that is not', async () => {
    const url = at('smtp', server.port, undefined, '?requireTLS=true')
    const handed = await transport({ url }).send(mailTo('plain@example.org'), QUICK)
    expect(handed.outcome).toBe('failed')
    expect(cameTo('plain@example.org')).toEqual([])
  })
})
