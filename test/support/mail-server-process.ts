/**
 * An SMTP server as a process of its own, for tests of mail. What it receives it prints as JSON, one line a mail. Its only
 * argument is JSON: the options of each port it listens on.
 *
 * A receiver's address tells how it is treated: `550-…@` and the like get that code for RCPT TO, `data-451-…@` for the message, `rights-…@`
 * a refusal that is about the sender's rights, `stall-…@` is never answered, `cut-…@` finds the connection ended after its message was taken, and
 * the first message to `once-…@` is taken and not answered.
 */

import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { setInterval } from 'node:timers'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'

export type MailServerOptions = {
  port?: number
  /** TLS from the first byte; otherwise STARTTLS is offered. */
  secure?: boolean
  /** Without them, no TLS at all. */
  key?: string
  cert?: string
  /** Without it nobody has to sign in. */
  user?: { name: string; password: string }
}

export type ReceivedMail = {
  to: string
  from: string
  raw: string
  isSecure: boolean
  user: string | null
  connection: string
  port: number
}

const refusal = (responseCode: number, text: string) => Object.assign(new Error(text), { responseCode })

function listen({ port = 0, secure = false, key, cert, user }: MailServerOptions): Promise<number> {
  const server = new SMTPServer({
    secure,
    ...(key && cert && { key, cert }),
    disabledCommands: [...(key ? [] : ['STARTTLS']), ...(user ? [] : ['AUTH'])],
    disableReverseLookup: true,
    closeTimeout: 100,
    logger: false,
    onAuth({ username, password }, _session, done) {
      if (username === user?.name && password === user?.password) done(null, { user: username })
      else done(refusal(535, '5.7.8 the password is wrong'))
    },
    onRcptTo: ({ address }, _session, done) => answerReceiver(address, done),
    onData: (stream, session, done) => answerMessage(server, stream, session, done),
  })
  server.on('error', () => {})
  const { promise, resolve } = Promise.withResolvers<number>()
  server.listen(port, '127.0.0.1', () => resolve((server.server.address() as AddressInfo).port))
  return promise
}

const known = new Set<string>()

type Done = (error?: Error | null) => void

function answerReceiver(address: string, done: Done): void {
  if (address.startsWith('stall-')) return
  const code = Number(/^(\d{3})-/.exec(address)?.[1] ?? 250)
  if (address.startsWith('rights-')) done(refusal(550, '5.7.1 relaying denied'))
  else done(code >= 400 ? refusal(code, `no mail for ${address}`) : null)
}

function answerMessage(server: SMTPServer, stream: Readable, session: SMTPServerSession, done: Done): void {
  const pieces: Buffer[] = []
  stream.on('data', (piece: Buffer) => pieces.push(piece))
  stream.on('end', () => {
    const to = session.envelope.rcptTo[0]!.address
    const code = Number(/^data-(\d{3})-/.exec(to)?.[1] ?? 250)
    if (code >= 400) return done(refusal(code, 'not this message'))
    print(received(session, to, Buffer.concat(pieces).toString('utf8')))
    const isFirst = !known.has(to)
    known.add(to)
    if (to.startsWith('once-') && isFirst) return
    if (to.startsWith('cut-')) for (const connection of server.connections) connection.close()
    else done()
  })
}

function received(session: SMTPServerSession, to: string, raw: string): ReceivedMail {
  const { mailFrom } = session.envelope
  const from = mailFrom === false ? '' : mailFrom.address
  return {
    to,
    from,
    raw,
    isSecure: session.secure,
    user: session.user ?? null,
    connection: session.id,
    port: session.localPort,
  }
}

function print(line: unknown): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

const wanted: MailServerOptions[] = JSON.parse(process.argv[2] ?? '[{}]')
print({ ports: await Promise.all(wanted.map(listen)) })

// A test that was killed leaves nobody to end this process.
const parent = process.ppid
setInterval(() => process.ppid === parent || process.exit(), 1_000).unref()
