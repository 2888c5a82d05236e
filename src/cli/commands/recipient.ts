/**
 * `holdfast recipient`: adds, lists, tests and deletes the mail addresses of owners, straight on the database, as
 * `holdfast webhook` does for webhooks. Whoever can reach the database may do so; each change is in the audit.
 */

import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { assertRecipientRoom, mailKindsOf, normalAddress } from '../../api/make-recipient.ts'
import { presentRecipient } from '../../api/present-recipient.ts'
import { RecipientBody, type RecipientObject } from '../../contract/recipient.ts'
import { MAIL_KINDS } from '../../run/fact-kinds.ts'
import { EVERYONE } from '../../run/quota.ts'
import type { Receivers } from '../../store/ports/receivers.ts'
import type { Store } from '../../store/store.ts'
import { ACTOR } from '../actor.ts'
import { isSure } from '../are-you-sure.ts'
import { withStore } from '../database.ts'
import { table } from '../table.ts'

const PAGE = 200
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const OWNER = /^[\x20-\x7e]{1,255}$/

type Json = { json?: boolean }

export function addRecipient(program: Command): void {
  const recipient = program.command('recipient').description('say who gets mail, straight on the database')
  recipient
    .command('add <address>')
    .description('tell a mail address about documents; given again, its kinds are set anew')
    .requiredOption('--owner <name>', 'about whose documents; * for everybody’s')
    .option('--kinds <list>', `about what, between commas: ${MAIL_KINDS.join(', ')} (all of them)`)
    .option('--json', 'print JSON')
    .action(add)
  recipient
    .command('list')
    .description('show all mail addresses')
    .option('--owner <name>', 'only those of one owner')
    .option('--json', 'print JSON')
    .action(list)
  recipient
    .command('test <id>')
    .description('have a test mail sent by the relay')
    .option('--json', 'print JSON')
    .action(sendTest)
  recipient
    .command('delete <id>')
    .description('delete a mail address with everything that was or was to be sent to it')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .action(remove)
}

async function add(text: string, options: Json & { owner: string; kinds?: string }): Promise<void> {
  const { owner } = options
  if (!OWNER.test(owner)) throw new Error('--owner must have 1 to 255 printable ASCII characters')
  const named = options.kinds?.split(',').flatMap((kind) => kind.trim() || [])
  const parsed = RecipientBody.safeParse({ address: text, kinds: named })
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    if (issue?.path[0] === 'address') throw new Error(`the address ${issue.message}`)
    throw new Error(`--kinds must be some of ${MAIL_KINDS.join(', ')}, between commas`)
  }
  const address = normalAddress(parsed.data.address)
  const kinds = mailKindsOf(parsed.data.kinds)
  await withStore(async ({ receivers, audit }) => {
    await assertRecipientRoom(receivers, owner, address)
    await audit.record({ actor: ACTOR, action: 'recipient.put', target: address, data: { owner, kinds } })
    const wanted = { id: randomUUID(), owner, address, kinds, createdBy: ACTOR.owner }
    const recipient = presentRecipient(await receivers.putAddress(wanted))
    if (options.json) return print(JSON.stringify(recipient))
    print(`${address} is told about ${whose(owner)} documents: ${kinds.join(', ')}. It is ${recipient.recipient_id}.`)
  })
}

function whose(owner: string): string {
  return owner === EVERYONE ? 'everybody’s' : `${owner}’s`
}

async function list(options: Json & { owner?: string }): Promise<void> {
  await withStore(async ({ receivers }) => {
    const recipients = await allRecipients(receivers, options.owner ?? null)
    if (options.json) return print(JSON.stringify(recipients))
    if (recipients.length === 0) return print('There are no mail addresses. "holdfast recipient add" adds one.')
    print(table([['ID', 'OWNER', 'ADDRESS', 'KINDS', 'STATE'], ...recipients.map(rowOf)]))
  })
}

async function allRecipients(receivers: Receivers, owner: string | null): Promise<RecipientObject[]> {
  const recipients: RecipientObject[] = []
  let cursor: string | null = null
  do {
    const asked = { owner, limit: PAGE, cursor }
    const page: Awaited<ReturnType<Receivers['listAddresses']>> = await receivers.listAddresses(asked)
    recipients.push(...page.data.map(presentRecipient))
    cursor = page.nextCursor
  } while (cursor !== null)
  return recipients
}

function rowOf({ recipient_id, owner, address, kinds, failures, disabled_reason }: RecipientObject): string[] {
  const state = failures === 0 ? 'enabled' : `enabled, ${failures} failed in a row`
  return [recipient_id, owner === EVERYONE ? '* (all)' : owner, address, kinds.join(' '), disabled_reason ?? state]
}

async function sendTest(id: string, options: Json): Promise<void> {
  await withRecipient(id, async ({ deliveries }, { recipient_id, disabled_reason }) => {
    if (disabled_reason !== null) throw new Error(`no mail goes to this address: ${disabled_reason}`)
    const delivery = await deliveries.sendTest(recipient_id, null, randomUUID())
    if (!delivery) throw unknown(id)
    if (options.json) return print(JSON.stringify({ delivery_id: delivery.id, message_id: delivery.messageId }))
    print(`The relay sends it as delivery ${delivery.id}.`)
  })
}

async function remove(id: string, options: Json & { yes?: boolean }): Promise<void> {
  const question = `Delete the mail address ${id}?`
  if (!options.yes && !(await isSure(question, 'add --yes to delete a mail address without being asked'))) {
    throw new Error('nothing was deleted')
  }
  await withRecipient(id, async ({ receivers, audit }, { recipient_id, address, owner }) => {
    await audit.record({ actor: ACTOR, action: 'recipient.delete', target: address, data: { owner } })
    if (!(await receivers.removeAddress(recipient_id, null))) throw unknown(id)
    print(options.json ? JSON.stringify({ deleted: recipient_id }) : `Deleted the mail address ${address} of ${owner}.`)
  })
}

async function withRecipient(
  id: string,
  use: (store: Store, recipient: RecipientObject) => Promise<void>,
): Promise<void> {
  if (!ID.test(id)) throw unknown(id)
  await withStore(async (store) => {
    const found = await store.receivers.findAddress(id.toLowerCase(), null)
    if (!found) throw unknown(id)
    await use(store, presentRecipient(found))
  })
}

function unknown(id: string): Error {
  return new Error(`there is no mail address ${JSON.stringify(id)}; "holdfast recipient list" shows them`)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
