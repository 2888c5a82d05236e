/** A mail as the mail library takes it. It may read no file and fetch nothing, whatever a text in the mail says. */

import type { SendMailOptions } from 'nodemailer'
import type { OutgoingMail } from './mail-transport.ts'

export function mailOptions({ to, headers, ...mail }: OutgoingMail): SendMailOptions {
  return {
    ...mail,
    // As a text it would be read as a list.
    to: { name: '', address: to },
    headers: Object.entries(headers).map(([key, value]) => ({
      key,
      value: { prepared: true, value: oneHeader(value) },
    })),
    xMailer: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** Headers of ours go out as they are, so none may hold the end of one. */
function oneHeader(value: string): string {
  if (/[^\x20-\x7e]/.test(value)) throw new Error('a header of a mail holds signs that none may have')
  return value
}
