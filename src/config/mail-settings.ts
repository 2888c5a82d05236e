/** The settings of mail; part of the table in `settings.ts`. */

import { z } from 'zod'
import { plainText, url } from './value-kinds.ts'

const EXAMPLE = 'smtp://user:password@mail.example.org:587'
const SMTP = url(['smtp:', 'smtps:'], EXAMPLE)
/** An address, or a name and an address. Nothing in it may end a header or begin a second address. */
const FROM =
  /^(?:[^\p{Cc}<>@,;"\\]{1,100} <[^\s<>@,;"\\]{1,64}@[A-Za-z0-9.-]{1,255}>|[^\s<>@,;"\\]{1,64}@[A-Za-z0-9.-]{1,255})$/u

export const MAIL_ROWS = {
  smtpUrl: {
    env: 'SMTP_URL',
    default: null,
    about:
      'Server that takes mail: smtp:// (STARTTLS where it is offered, and always before a password goes to another machine) or smtps://. Without it mails are written to HOLDFAST_MAIL_FOLDER.',
    kind: SMTP,
  },
  ownSmtpUrl: {
    env: 'HOLDFAST_SMTP_URL',
    default: null,
    about: 'The same, where SMTP_URL belongs to another program. It goes before SMTP_URL.',
    kind: SMTP,
  },
  from: {
    env: 'HOLDFAST_MAIL_FROM',
    default: null,
    about: 'Sender of mails, e.g. Holdfast <holdfast@example.org>. Needed with SMTP_URL.',
    kind: z.string().regex(FROM, 'must be an address such as Holdfast <holdfast@example.org>'),
  },
  folder: {
    env: 'HOLDFAST_MAIL_FOLDER',
    default: null,
    about: 'Folder for mails, one .eml file each, when there is no SMTP server. Without it, mail in HOLDFAST_DATA_DIR.',
    kind: plainText(),
  },
}
