/** The port to where mails go: an SMTP server, or a folder where there is none. One mail has one receiver. */

import type { Handed } from './sender.ts'

export type OutgoingMail = {
  /** As configured: an address, or a name and an address. */
  from: string
  to: string
  subject: string
  text: string
  html: string
  /** With its angle brackets. The same for every sending of one delivery. */
  messageId: string
  date: Date
  headers: Record<string, string>
}

export interface MailTransport {
  /** Mails that it takes at once; as many as one likes without it. */
  readonly sendsMax?: number
  /** Tries once. Whatever the other side does is an answer; `signal` ends the try. */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<Pick<Handed, 'outcome' | 'response' | 'error'>>
  close(): Promise<void>
}
