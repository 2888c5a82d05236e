/** The senders of a relay, one for each channel that is configured. Loaded where they are used: mail and streams bring libraries along. */

import { resolve } from 'node:path'
import type { Config } from './config/config.ts'
import type { Sender } from './delivery/sender.ts'
import type { Store } from './store/store.ts'
import type { Log } from './telemetry/log.ts'

export type SenderParts = { config: Config; log: Log; store: Store }

export async function createSenders(parts: SenderParts): Promise<Sender[]> {
  return [await webhookSender(parts), await mailSender(parts), ...(await streamSenders(parts))]
}

async function webhookSender({ config }: SenderParts): Promise<Sender> {
  const { createWebhookSender } = await import('./delivery/webhook-sender.ts')
  return createWebhookSender({
    allow: config.webhooks.allow,
    publicUrl: publicUrlOf(config.http),
    timeoutMs: config.relay.sendTimeoutMs,
  })
}

/** Over SMTP, or into a folder where there is no server. */
async function mailSender({ config, store, log }: SenderParts): Promise<Sender> {
  const { createMailSender } = await import('./delivery/mail-sender.ts')
  const { smtpUrl, folder, from } = config.mail
  if (smtpUrl === null)
    log.info({ folder: resolve(folder) }, 'no mail server is configured; mails are written to a folder')
  const transport =
    smtpUrl === null
      ? (await import('./delivery/mail-folder.ts')).createMailFolder(folder)
      : (await import('./delivery/smtp.ts')).createSmtpTransport({ url: smtpUrl })
  const unsubscribeKey = await store.signingKey('unsubscribe')
  return createMailSender({ transport, from, publicUrl: publicUrlOf(config.http), unsubscribeKey })
}

/** The stream is a receiver like others as long as the configuration has one: without it nobody would send what waits for it. */
async function streamSenders({ config, store, log }: SenderParts): Promise<Sender[]> {
  const { name, kinds, lengthMax } = config.stream
  const { url } = config.redis
  if (name === null || url === null) {
    const wasDisabled = await store.receivers.setStream([])
    if (wasDisabled) log.warn('the stream is disabled, and what waits for it kept: HOLDFAST_STREAM is not set')
    return []
  }
  await store.receivers.setStream([...kinds])
  const { createStreamSender } = await import('./delivery/stream-sender.ts')
  return [createStreamSender({ url, stream: name, lengthMax, publicUrl: publicUrlOf(config.http) })]
}

/** Links lead there. */
export function publicUrlOf({ publicUrl, host, port }: Config['http']): string {
  return publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
