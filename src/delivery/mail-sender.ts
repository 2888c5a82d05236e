/** The channel of mails: writes each delivery with its template and hands it to the transport, one mail for one address. */

import type { ClaimedDelivery } from '../store/ports/deliveries.ts'
import { composeMail, type MailSettings } from './compose-mail.ts'
import type { MailTransport, OutgoingMail } from './mail-transport.ts'
import type { Handed, Sender } from './sender.ts'

export function createMailSender(options: MailSettings & { transport: MailTransport }): Sender {
  const { transport, ...settings } = options

  async function send(delivery: ClaimedDelivery, signal: AbortSignal): Promise<Handed> {
    const mail = written(delivery, settings)
    // No later try would write it either.
    if (mail instanceof Error) return { outcome: 'refused', request: null, response: null, error: mail.message }
    const { from, to, subject, messageId } = mail
    return { request: { from, to, subject, message_id: messageId }, ...(await transport.send(mail, signal)) }
  }

  const { sendsMax } = transport
  return { channel: 'mail', ...(sendsMax !== undefined && { sendsMax }), send, close: () => transport.close() }
}

function written(delivery: ClaimedDelivery, settings: MailSettings): OutgoingMail | Error {
  if (delivery.to.channel !== 'mail') return new Error('The delivery has no mail address.')
  try {
    return composeMail(delivery, delivery.to.address, settings)
  } catch (error) {
    return new Error(`The mail could not be written: ${(error as Error).message}`)
  }
}
