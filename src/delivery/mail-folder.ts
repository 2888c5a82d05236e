/**
 * Where there is no SMTP server: each mail is a file in a folder that any mail program opens. It is named after its Message-ID, so a
 * mail that is sent again replaces itself, and it is there whole or not at all.
 */

import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createTransport } from 'nodemailer'
import { mailOptions } from './mail-options.ts'
import type { MailTransport, OutgoingMail } from './mail-transport.ts'

const TEMPORARY_PREFIX = '.writing-'
const TEMPORARY_AGE_MS_MAX = 24 * 60 * 60 * 1_000

/**
 * The folder is made with the first mail, so that a relay without mails needs none, and what a killed process left half written more than a
 * day ago is removed then.
 */
export function createMailFolder(path: string): MailTransport {
  const folder = resolve(path)
  let isTidy = false
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  return {
    async send(mail) {
      const name = fileName(mail)
      try {
        await mkdir(folder, { recursive: true })
        if (!isTidy) await removeLeftovers(folder)
        isTidy = true
        const { message } = await composer.sendMail(mailOptions(mail))
        await writeWhole(folder, name, message as Buffer)
        return { outcome: 'delivered', response: { file: name }, error: null }
      } catch (error) {
        // A full or missing disk may be mended; the path is for the log of the operator only.
        const code = (error as NodeJS.ErrnoException).code ?? (error as Error).name
        return {
          outcome: 'failed',
          response: null,
          error: `The mail could not be written to the mail folder: ${code}.`,
        }
      }
    },
    async close() {},
  }
}

function fileName({ messageId }: OutgoingMail): string {
  return `${messageId.slice(1, messageId.lastIndexOf('@'))}.eml`
}

async function writeWhole(folder: string, name: string, bytes: Buffer): Promise<void> {
  const temporary = join(folder, `${TEMPORARY_PREFIX}${randomUUID()}`)
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, join(folder, name))
    const handle = await open(folder, 'r')
    await handle.sync().finally(() => handle.close())
  } catch (error) {
    await unlink(temporary).catch(() => {})
    throw error
  }
}

async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(TEMPORARY_PREFIX)) continue
    const path = join(folder, name)
    const found = await stat(path).catch(() => null)
    if (found && Date.now() - found.mtimeMs > TEMPORARY_AGE_MS_MAX) await unlink(path).catch(() => {})
  }
}
