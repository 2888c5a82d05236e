/**
 * One delivery as a mail with all its headers. The Message-ID is made of the delivery alone, so that a mail that is sent again after a crash
 * is known as the same one. Throws when the delivery cannot be written.
 */

import { unsubscribeToken } from '../run/unsubscribe-token.ts'
import type { Delivery } from '../store/ports/deliveries.ts'
import { mailKindOf, writeMail } from './mail-templates/write-mail.ts'
import type { OutgoingMail } from './mail-transport.ts'

export type MailSettings = {
  from: string
  /** Without a slash at its end. */
  publicUrl: string
  /** Signs the links to unsubscribe. */
  unsubscribeKey: string
}

export type MailDelivery = Pick<Delivery, 'receiverId' | 'messageId' | 'kind' | 'owner' | 'data' | 'createdAt'>

export function composeMail(delivery: MailDelivery, address: string, settings: MailSettings): OutgoingMail {
  const { from, publicUrl, unsubscribeKey } = settings
  const kind = mailKindOf(delivery)
  const token = unsubscribeToken(unsubscribeKey, { receiverId: delivery.receiverId, kind })
  const unsubscribeUrl = `${publicUrl}/unsubscribe?token=${token}`
  const { hostname } = new URL(publicUrl)
  return {
    from,
    to: address,
    ...writeMail(delivery, { publicUrl, unsubscribeUrl }),
    messageId: `<${mailName(delivery)}@${hostname}>`,
    date: delivery.createdAt,
    headers: {
      'Auto-Submitted': 'auto-generated',
      'List-Id': `<${(kind ?? 'all').replace('_', '-')}.mail.${hostname}>`,
      'List-Unsubscribe': `<${unsubscribeUrl}>`,
      // RFC 8058: a mail program may unsubscribe by one POST. A GET, as scanners of links make it, changes nothing.
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
  }
}

/** Names this mail to this receiver for ever, in signs that are harmless in a header and in the name of a file. */
export function mailName({ messageId, receiverId }: Pick<Delivery, 'messageId' | 'receiverId'>): string {
  const name = `${messageId}.${receiverId.replaceAll('-', '')}`
  if (!/^[A-Za-z0-9_.-]{1,240}$/.test(name)) throw new Error('the id of the message has signs that none may have')
  return name
}
