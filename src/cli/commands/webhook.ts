/**
 * `holdfast webhook`: registers, lists, deletes and tests webhooks and gives them new secrets, straight on the database, as
 * `holdfast token` does for tokens. Whoever can reach the database may do so; each change is in the audit.
 */

import { randomUUID } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import type { Command } from 'commander'
import { checkWebhookUrl, newSecret, storeNewWebhook } from '../../api/make-webhook.ts'
import { presentWebhook } from '../../api/present-webhook.ts'
import { readEnvironment } from '../../config/read-environment.ts'
import { OLD_SECRET_SECONDS_MAX, WebhookBody, type WebhookObject } from '../../contract/webhook.ts'
import { FACT_KINDS } from '../../run/fact-kinds.ts'
import { EVERYONE } from '../../run/quota.ts'
import type { Store } from '../../store/store.ts'
import { ACTOR } from '../actor.ts'
import { isSure } from '../are-you-sure.ts'
import { withStore } from '../database.ts'
import { parseDuration } from '../duration.ts'
import { table } from '../table.ts'

const PAGE = 200
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const OWNER = /^[\x20-\x7e]{1,255}$/

type CreateOptions = { events: string; owner: string; description?: string; json?: boolean }

export function addWebhook(program: Command): void {
  const webhook = program.command('webhook').description('register and test webhooks, straight on the database')
  webhook
    .command('create <url>')
    .description('register a webhook; its secret is printed once')
    .requiredOption('--events <list>', `what it wants to hear of, between commas: ${FACT_KINDS.join(', ')}`)
    .requiredOption('--owner <name>', 'whose runs it hears of; * for everybody’s')
    .option('--description <text>', 'what it is for')
    .option('--json', 'print the webhook with its secret as JSON')
    .action(create)
  webhook
    .command('list')
    .description('show all webhooks')
    .option('--owner <name>', 'only those of one owner')
    .option('--json', 'print JSON')
    .action(list)
  webhook
    .command('rotate <id>')
    .description('give a webhook a new secret, which is printed once')
    .option('--keep <time>', 'how long the old one signs too, e.g. 0s, 12h or 7d', '1d')
    .option('--json', 'print the webhook with its secret as JSON')
    .action(rotate)
  webhook
    .command('test <id>')
    .description('have a test sent by the relay')
    .option('--json', 'print JSON')
    .action(sendTest)
  webhook
    .command('delete <id>')
    .description('delete a webhook with everything that was or was to be sent to it')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .action(remove)
}

async function create(text: string, { owner, ...options }: CreateOptions): Promise<void> {
  if (!OWNER.test(owner)) throw new Error('--owner must have 1 to 255 printable ASCII characters')
  const { events, description = null } = bodyOf(text, options)
  const { allow } = readEnvironment().webhooks
  const url = await checkWebhookUrl(text, { allow, lookUp: (host) => lookup(host, { all: true }) })
  await withStore(async ({ receivers, audit }) => {
    const id = randomUUID()
    const { origin, pathname } = new URL(url)
    const data = { owner, url: `${origin}${pathname}`, events }
    await audit.record({ actor: ACTOR, action: 'webhook.create', target: id, data })
    const wanted = { id, owner, url, events, description, createdBy: ACTOR.owner }
    const { webhook, secret } = await storeNewWebhook(receivers, wanted)
    tellSecret(presentWebhook(webhook), secret, options.json)
  })
}

function bodyOf(url: string, { events, description }: Omit<CreateOptions, 'owner'>): WebhookBody {
  const named = events.split(',').flatMap((name) => name.trim() || [])
  const parsed = WebhookBody.safeParse({ url, events: named, description })
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const [name, index] = issue?.path ?? []
  if (name === 'url') throw new Error(`the URL ${issue?.message}`)
  if (typeof index !== 'number') throw new Error(`--${String(name)} ${issue?.message}`)
  throw new Error(`${JSON.stringify(named[index])} is no event; there are ${FACT_KINDS.join(', ')}`)
}

function tellSecret(webhook: WebhookObject, secret: string, json = false): void {
  if (!json) {
    const { webhook_id, owner } = webhook
    process.stderr.write(`Webhook ${webhook_id} of ${owner} signs with this secret. It is shown once:\n`)
  }
  print(json ? JSON.stringify({ ...webhook, secret }) : secret)
}

async function list(options: { owner?: string; json?: boolean }): Promise<void> {
  await withStore(async (store) => {
    const webhooks = await allWebhooks(store, options.owner ?? null)
    if (options.json) return print(JSON.stringify(webhooks))
    if (webhooks.length === 0) return print('There are no webhooks. "holdfast webhook create" makes one.')
    print(table([['ID', 'OWNER', 'URL', 'EVENTS', 'STATE'], ...webhooks.map(rowOf)]))
  })
}

async function allWebhooks({ receivers }: Store, owner: string | null): Promise<WebhookObject[]> {
  const webhooks: WebhookObject[] = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<typeof receivers.listWebhooks>> = await receivers.listWebhooks({
      owner,
      limit: PAGE,
      cursor,
    })
    webhooks.push(...page.data.map(presentWebhook))
    cursor = page.nextCursor
  } while (cursor !== null)
  return webhooks
}

function rowOf({ webhook_id, owner, url, events, failures, disabled_reason }: WebhookObject): string[] {
  const state = failures === 0 ? 'enabled' : `enabled, ${failures} failed in a row`
  return [webhook_id, owner === EVERYONE ? '* (all)' : owner, url, events.join(' '), disabled_reason ?? state]
}

async function rotate(id: string, options: { keep: string; json?: boolean }): Promise<void> {
  const keepSeconds = parseDuration(options.keep)
  if (keepSeconds > OLD_SECRET_SECONDS_MAX) throw new Error('--keep must be 30d at most')
  await withWebhook(id, async ({ receivers, audit }, target) => {
    await audit.record({ actor: ACTOR, action: 'webhook.rotate', target, data: { old_seconds: keepSeconds } })
    const secret = newSecret()
    const webhook = await receivers.rotateSecret(target, null, secret, keepSeconds)
    if (!webhook) throw unknown(id)
    tellSecret(presentWebhook(webhook), secret, options.json)
  })
}

async function sendTest(id: string, options: { json?: boolean }): Promise<void> {
  await withWebhook(id, async ({ deliveries }, target, { disabled_reason }) => {
    if (disabled_reason !== null) throw new Error(`the webhook is disabled: ${disabled_reason}`)
    const delivery = await deliveries.sendTest(target, null, randomUUID())
    if (!delivery) throw unknown(id)
    if (options.json) return print(JSON.stringify({ delivery_id: delivery.id, message_id: delivery.messageId }))
    print(`The relay sends it as delivery ${delivery.id}.`)
  })
}

async function remove(id: string, options: { yes?: boolean; json?: boolean }): Promise<void> {
  const question = `Delete the webhook ${id}?`
  if (!options.yes && !(await isSure(question, 'add --yes to delete a webhook without being asked'))) {
    throw new Error('nothing was deleted')
  }
  await withWebhook(id, async ({ receivers, audit }, target, { owner }) => {
    await audit.record({ actor: ACTOR, action: 'webhook.delete', target, data: { owner } })
    if (!(await receivers.removeWebhook(target, null))) throw unknown(id)
    print(options.json ? JSON.stringify({ deleted: target }) : `Deleted the webhook ${target} of ${owner}.`)
  })
}

async function withWebhook(
  id: string,
  use: (store: Store, id: string, webhook: WebhookObject) => Promise<void>,
): Promise<void> {
  if (!ID.test(id)) throw unknown(id)
  await withStore(async (store) => {
    const webhook = await store.receivers.findWebhook(id.toLowerCase(), null)
    if (!webhook) throw unknown(id)
    await use(store, webhook.id, presentWebhook(webhook))
  })
}

function unknown(id: string): Error {
  return new Error(`there is no webhook ${JSON.stringify(id)}; "holdfast webhook list" shows them`)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
