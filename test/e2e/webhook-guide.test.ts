/**
 * The receivers that docs/guides/webhooks.md shows, as they stand there: what we send passes, what others send does not,
 * repeats are dropped.
 */

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createWebhookSender } from '../../src/delivery/webhook-sender.ts'
import { claimedDelivery } from '../support/claimed-delivery.ts'
import { python } from '../support/python.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { until } from '../support/until.ts'

const GUIDE = new URL('../../docs/guides/webhooks.md', import.meta.url)
const CLIENT = new URL('../../client/src/index.ts', import.meta.url).href

async function example(language: string): Promise<string> {
  const [, code] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(await readFile(GUIDE, 'utf8')) ?? []
  return code!.replace('@holdfast/client', CLIENT)
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  return port
}

async function started(language: 'ts' | 'python') {
  const folder = await tempFolder()
  onTestFinished(folder.remove)
  const file = join(folder.path, language === 'ts' ? 'receiver.ts' : 'receiver.py')
  await writeFile(file, await example(language))
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const port = await freePort()
  const command = language === 'ts' ? process.execPath : python.command!
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, PORT: String(port), WEBHOOK_SECRET: secret }
  const child = spawn(command, [file], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const told: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => told.push(String(chunk)))
  return { url: `http://127.0.0.1:${port}/`, secret, told }
}

test.each([
  ['ts', false],
  ['python', python.command === null],
] as const)('the receiver in %s', async (language, isMissing) => {
  if (isMissing) return
  const { url, secret, told } = await started(language)
  const sender = createWebhookSender({ allow: ['127.0.0.1'], publicUrl: null })
  onTestFinished(() => sender.close())
  const data = { type: 'run.succeeded', timestamp: '2026-01-02T03:04:05.678Z', data: { run_id: 'r-1', title: 'Ünï' } }
  const send = (id: string, signedBy: string, oldSecret: string | null = null) =>
    sender.send(
      claimedDelivery({ messageId: id, data, to: { channel: 'webhook', url, secret: signedBy, oldSecret } }),
      new AbortController().signal,
    )
  await until(async () => (await send('a_1', secret)).outcome === 'delivered', { what: 'the receiver listens' })
  const other = `whsec_${randomBytes(32).toString('base64')}`
  expect(await send('a_1', other, secret)).toMatchObject({ outcome: 'delivered' })
  expect(await send('a_2', other)).toMatchObject({ outcome: 'failed', response: { status: 400 } })
  expect(told.join('')).toBe('run.succeeded r-1\n')
})
