/**
 * Mails over SMTP. A few lanes, each with one connection that stays open between mails. A mail that takes too long ends its own
 * connection and no other, so that a server that stalls one mail does not stall the rest.
 */

import { createTransport } from 'nodemailer'
import { mailOptions } from './mail-options.ts'
import type { MailTransport } from './mail-transport.ts'
import { handedOf, type SmtpError } from './smtp-answer.ts'

export type SmtpOptions = {
  /** `smtp://user:password@host:587` or `smtps://…`; further options of the connection as its query. */
  url: string
  /** Mails under way at once. */
  lanes?: number
  /** Certificates to trust besides those that Node trusts. */
  ca?: string
}

/** A server that says nothing for so long has stopped. The relay limits the whole. */
const SILENCE_MS_MAX = 10_000
/** Servers close idle connections after a while; we do it first. */
const IDLE_MS = 30_000

type Lane = { mailer: ReturnType<typeof openMailer>; isFree: boolean }

export function createSmtpTransport(options: SmtpOptions): MailTransport {
  const { lanes: sendsMax = 5 } = options
  const lanes: Lane[] = Array.from({ length: sendsMax }, () => ({
    mailer: openMailer(options),
    isFree: true,
  }))
  const waiting: ((lane: Lane) => void)[] = []

  function leave(lane: Lane): void {
    const next = waiting.shift()
    if (next) next(lane)
    else lane.isFree = true
  }

  async function enter(signal: AbortSignal): Promise<Lane> {
    signal.throwIfAborted()
    const free = lanes.find(({ isFree }) => isFree)
    if (free) {
      free.isFree = false
      return free
    }
    const turn = Promise.withResolvers<Lane>()
    waiting.push(turn.resolve)
    const giveUp = () => {
      const place = waiting.indexOf(turn.resolve)
      // It may have its lane by now, and find out there that the time is over.
      if (place < 0) return
      waiting.splice(place, 1)
      turn.reject(signal.reason)
    }
    signal.addEventListener('abort', giveUp, { once: true })
    return turn.promise.finally(() => signal.removeEventListener('abort', giveUp))
  }

  const send: MailTransport['send'] = async (mail, signal) => {
    let lane: Lane | undefined
    try {
      lane = await enter(signal)
      const { response } = await within(lane.mailer.sendMail(mailOptions(mail)), signal)
      return { outcome: 'delivered', response: { text: response.slice(0, 500) }, error: null }
    } catch (error) {
      if (!signal.aborted) return handedOf(error as SmtpError)
      if (lane) {
        lane.mailer.close({ force: true })
        lane.mailer = openMailer(options)
      }
      return { outcome: 'failed', response: null, error: 'The mail server took too long.' }
    } finally {
      if (lane) leave(lane)
    }
  }

  return {
    sendsMax,
    send,
    async close() {
      for (const { mailer } of lanes) mailer.close({ force: true })
    },
  }
}

function openMailer({ url, ca }: SmtpOptions) {
  return createTransport({
    url,
    pool: true,
    maxConnections: 1,
    maxMessages: 1_000,
    // One more try when the server closed an idle connection just now.
    maxRequeues: 1,
    idleTimeout: IDLE_MS,
    connectionTimeout: SILENCE_MS_MAX,
    greetingTimeout: SILENCE_MS_MAX,
    socketTimeout: SILENCE_MS_MAX,
    dnsTimeout: SILENCE_MS_MAX,
    ...(needsTls(new URL(url)) && { requireTLS: true }),
    ...(ca !== undefined && { tls: { ca } }),
  })
}

/** A password goes over no connection that others can read, unless the URL says so itself. */
export function needsTls({ username, hostname, searchParams }: URL): boolean {
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
  return username !== '' && !isLocal && !searchParams.has('requireTLS') && !searchParams.has('ignoreTLS')
}

function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const end = Promise.withResolvers<never>()
  const stop = () => end.reject(signal.reason)
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  return Promise.race([work, end.promise]).finally(() => signal.removeEventListener('abort', stop))
}
