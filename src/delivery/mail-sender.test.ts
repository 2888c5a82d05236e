import { readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { headerOf } from '../../test/support/mail-server.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { readUnsubscribeToken } from '../run/unsubscribe-token.ts'
import type { ClaimedDelivery } from '../store/ports/deliveries.ts'
import type { MailData } from '../store/ports/outbox.ts'
import { createMailFolder } from './mail-folder.ts'
import { createMailSender } from './mail-sender.ts'
import type { MailTransport } from './mail-transport.ts'

const SIGNAL = AbortSignal.timeout(60_000)
const KEY = 'a key'
const SETTINGS = { from: 'Holdfast <holdfast@example.org>', publicUrl: 'https://example.org/base', unsubscribeKey: KEY }
const RECEIVER = '01990000-0000-7000-8000-000000000001'
const RUN = '01990000-0000-7000-8000-000000000002'

function claimed(data: MailData | object, more: Partial<ClaimedDelivery> = {}): ClaimedDelivery {
  return {
    id: '01990000-0000-7000-8000-000000000003',
    receiverId: RECEIVER,
    channel: 'mail',
    owner: 'alice',
    kind: (data as MailData).kind ?? 'test',
    messageId: 'abc_7',
    data,
    state: 'PENDING',
    createdAt: new Date('2026-01-02T03:04:05Z'),
    availableAt: new Date('2026-01-02T03:04:05Z'),
    attempts: 1,
    finishedAt: null,
    lastError: null,
    token: '01990000-0000-7000-8000-000000000004',
    tries: 0,
    to: { channel: 'mail', address: 'alice@example.org' },
    ...more,
  }
}

const PROGRESS: MailData = { kind: 'progress', done: 1_000, batchId: null, batchTitle: null }
const duplicateOf = (name: string): MailData => ({
  kind: 'duplicate',
  documents: [{ runId: RUN, name, at: '2026-01-02T03:04:05Z' }],
  more: 0,
})

async function folderSender() {
  const folder = await tempFolder()
  onTestFinished(folder.remove)
  const sender = createMailSender({ ...SETTINGS, transport: createMailFolder(folder.path) })
  return {
    sender,
    path: folder.path,
    files: () => readdir(folder.path),
    read: async () => ({ raw: await readFile(join(folder.path, (await readdir(folder.path))[0]!), 'utf8') }),
  }
}

test('without a server a mail is a file named after its id', async () => {
  const { sender, files, read } = await folderSender()
  const handed = await sender.send(claimed(PROGRESS), SIGNAL)
  const name = `abc_7.${RECEIVER.replaceAll('-', '')}`
  expect(handed).toEqual({
    outcome: 'delivered',
    request: {
      from: SETTINGS.from,
      to: 'alice@example.org',
      subject: '1,000 documents are done',
      message_id: `<${name}@example.org>`,
    },
    response: { file: `${name}.eml` },
    error: null,
  })
  expect(await files()).toEqual([`${name}.eml`])
  const mail = await read()
  expect(headerOf(mail, 'Message-ID')).toBe(`<${name}@example.org>`)
  expect(headerOf(mail, 'To')).toBe('alice@example.org')
  expect(headerOf(mail, 'Auto-Submitted')).toBe('auto-generated')
})

test('a mail that is sent again after a crash is the same mail', async () => {
  const { sender, files, read } = await folderSender()
  const ids: (string | null)[] = []
  for (const attempts of [1, 2]) {
    await sender.send(claimed(PROGRESS, { attempts, tries: attempts }), SIGNAL)
    ids.push(headerOf(await read(), 'Message-ID'))
  }
  expect(new Set(ids).size).toBe(1)
  expect(await files()).toHaveLength(1)
})

test('two addresses that hear of one fact get mails with ids of their own', async () => {
  const { sender, files } = await folderSender()
  await sender.send(claimed(PROGRESS), SIGNAL)
  await sender.send(claimed(PROGRESS, { receiverId: RUN }), SIGNAL)
  expect(await files()).toHaveLength(2)
})

test('the headers to unsubscribe carry a token for this address and this kind', async () => {
  const { sender, read } = await folderSender()
  await sender.send(claimed(PROGRESS), SIGNAL)
  const mail = await read()
  expect(headerOf(mail, 'List-Unsubscribe-Post')).toBe('List-Unsubscribe=One-Click')
  const [, token] = /^<https:\/\/example\.org\/base\/unsubscribe\?token=([^>]+)>$/.exec(
    headerOf(mail, 'List-Unsubscribe') ?? '',
  )!
  expect(readUnsubscribeToken(KEY, token!)).toEqual({ receiverId: RECEIVER, kind: 'progress' })
})

test.each([
  ['a line break', 'a.pdf\r\nBcc: eve@example.org\r\n\r\nbody'],
  ['a line break alone', 'a.pdf\nBcc: eve@example.org'],
  ['a carriage return alone', 'a.pdf\rBcc: eve@example.org'],
  ['a separator of lines', 'a.pdf\u2028Bcc: eve@example.org\u0085X: y'],
  ['an encoded word', '=?UTF-8?Q?a=0D=0ABcc:_eve@example.org?='],
])('a name with %s adds no header', async (_what, name) => {
  const { sender, read } = await folderSender()
  await sender.send(claimed(duplicateOf(name)), SIGNAL)
  const mail = await read()
  expect(headerOf(mail, 'Bcc')).toBeNull()
  expect(headerOf(mail, 'X')).toBeNull()
  expect(headerOf(mail, 'To')).toBe('alice@example.org')
})

test('a name that is markup is text in what was sent', async () => {
  const { sender, read } = await folderSender()
  await sender.send(claimed(duplicateOf('<img src=x onerror=alert(1)>.pdf')), SIGNAL)
  const { raw } = await read()
  const htmlPart = raw.slice(raw.indexOf('text/html')).replace(/=\r\n/g, '')
  expect(htmlPart).toContain('&lt;img')
  expect(htmlPart).not.toContain('<img')
})

test.each([
  ['data that no template knows', claimed({ kind: 'failure' }, { kind: 'failure' })],
  ['an id that is none', claimed(PROGRESS, { messageId: '../escape' })],
  ['another channel', claimed(PROGRESS, { to: { channel: 'stream' } })],
])('%s is refused, and nothing is sent', async (_what, delivery) => {
  const { sender, files } = await folderSender()
  expect(await sender.send(delivery, SIGNAL)).toMatchObject({ outcome: 'refused', response: null })
  expect(await files()).toEqual([])
})

test('what a transport answers is what the relay hears', async () => {
  const transport: MailTransport = {
    send: async () => ({ outcome: 'failed', response: { code: 451 }, error: 'later' }),
    close: async () => {},
  }
  const handed = await createMailSender({ ...SETTINGS, transport }).send(claimed({}), SIGNAL)
  expect(handed).toMatchObject({ outcome: 'failed', response: { code: 451 }, error: 'later' })
})

test('a folder that cannot be made is a failure that can be tried again', async () => {
  const folder = await tempFolder()
  onTestFinished(folder.remove)
  await writeFile(join(folder.path, 'taken'), '')
  const sender = createMailSender({ ...SETTINGS, transport: createMailFolder(join(folder.path, 'taken')) })
  const handed = await sender.send(claimed(PROGRESS), SIGNAL)
  expect(handed).toMatchObject({
    outcome: 'failed',
    error: 'The mail could not be written to the mail folder: EEXIST.',
  })
})

test('what a killed process left half written is removed after a day, and not before', async () => {
  const folder = await tempFolder()
  onTestFinished(folder.remove)
  for (const name of ['.writing-old', '.writing-new']) await writeFile(join(folder.path, name), 'half')
  const yesterday = new Date(Date.now() - 25 * 3_600_000)
  await utimes(join(folder.path, '.writing-old'), yesterday, yesterday)
  await createMailSender({ ...SETTINGS, transport: createMailFolder(folder.path) }).send(claimed(PROGRESS), SIGNAL)
  expect((await readdir(folder.path)).filter((name) => name.startsWith('.'))).toEqual(['.writing-new'])
})
