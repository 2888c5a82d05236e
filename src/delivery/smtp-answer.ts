/**
 * What an SMTP server's answer means for the delivery. Only a receiver that the server will never take (5xx to RCPT TO) is refused. A wrong
 * password, a sender it does not like or a message it calls spam is for the operator to mend: those are tried again, and nothing is lost
 * meanwhile. So is a refusal of RCPT TO that is about our rights (5.7.x, 530), such as a relay that does not know us.
 */

import type { Handed } from './sender.ts'

export type SmtpError = Error & { code?: string; command?: string; response?: string; responseCode?: number }

export function handedOf(error: SmtpError): Pick<Handed, 'outcome' | 'response' | 'error'> {
  const { responseCode, command } = error
  const response = responseCode === undefined ? null : { code: responseCode, command, text: short(error.response) }
  return { outcome: isRefused(error) ? 'refused' : 'failed', response, error: wordsOf(error) }
}

function isRefused({ code, command, response = '', responseCode = 0 }: SmtpError): boolean {
  // Without an answer there was no envelope to send: the address itself is none.
  if (code === 'EENVELOPE' && responseCode === 0) return true
  if (command !== 'RCPT TO' || responseCode < 500 || responseCode === 530) return false
  return !/^\d{3}[ -]5\.7\.\d/.test(response)
}

function wordsOf({ code, command, message, response }: SmtpError): string {
  const said = response === undefined ? message : `${command ?? code}: ${response}`
  return short(said) ?? 'The mail could not be sent.'
}

function short(text: string | undefined): string | null {
  return text === undefined ? null : text.replace(/\s+/g, ' ').trim().slice(0, 500)
}
