/** Starts the SMTP server of `mail-server-process.ts` as a process of its own and reads what it received. */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { MailServerOptions, ReceivedMail } from './mail-server-process.ts'
import { tempFolder } from './temp-folder.ts'
import { until } from './until.ts'

const PROGRAM = fileURLToPath(new URL('./mail-server-process.ts', import.meta.url))

export type MailServer = {
  /** The first of them. */
  port: number
  ports: number[]
  /** In the order in which they came. */
  mails: ReceivedMail[]
  /** Waits until so many mails came. */
  received(count: number): Promise<ReceivedMail[]>
  /** At once, as when the machine fails. */
  stop(): Promise<void>
}

export async function startMailServer(...options: MailServerOptions[]): Promise<MailServer> {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(options.length === 0 ? [{}] : options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH ?? '' },
  })
  const exited = once(child, 'exit')
  const mails: ReceivedMail[] = []
  const listening = Promise.withResolvers<number[]>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const said = JSON.parse(line)
    if ('ports' in said) listening.resolve(said.ports)
    else mails.push(said)
  })
  exited.then(() => listening.reject(new Error('the mail server ended')))
  const ports = await listening.promise
  return {
    port: ports[0]!,
    ports,
    mails,
    received: async (count) => {
      await until(() => mails.length >= count, { what: `the mail server has received ${count} mails` })
      return mails
    },
    async stop() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** The value of a header, on one line; null without it. */
export function headerOf({ raw }: Pick<ReceivedMail, 'raw'>, name: string): string | null {
  const head = raw.slice(0, raw.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' ')
  const lines = head.split('\r\n').filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
  if (lines.length > 1) throw new Error(`the header ${name} is there ${lines.length} times`)
  return lines[0]?.slice(name.length + 1).trim() ?? null
}

export function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** A key and a certificate for this machine, which nobody trusts yet. */
export async function makeCertificate(): Promise<{ key: string; cert: string }> {
  const folder = await tempFolder()
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const files = ['-keyout', 'key.pem', '-out', 'cert.pem']
  try {
    execFileSync('openssl', ['req', '-x509', ...ec, ...files, ...subject], { cwd: folder.path, stdio: 'ignore' })
    const read = (name: string) => readFileSync(join(folder.path, name), 'utf8')
    return { key: read('key.pem'), cert: read('cert.pem') }
  } finally {
    await folder.remove()
  }
}
