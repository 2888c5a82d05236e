/**
 * `holdfast deliveries`: what was sent to webhooks, mail addresses and the stream and how that went, and sending it
 * again, straight on the database. Whoever can reach the database may do so. What receivers answered is shown without
 * signs that a terminal would obey.
 */

import type { Command } from 'commander'
import { presentDelivery, presentDeliveryDetail } from '../../api/present-delivery.ts'
import { redactOptionsOf } from '../../api/redact-options.ts'
import { mailShownBy, redactHookOf } from '../../compose.ts'
import { readEnvironment } from '../../config/read-environment.ts'
import { type DeliveryDetailObject, DeliveryListQuery, type DeliveryObject } from '../../contract/delivery.ts'
import type { Deliveries } from '../../store/ports/deliveries.ts'
import { ACTOR } from '../actor.ts'
import { withStore } from '../database.ts'
import { table } from '../table.ts'

const PAGE = 200
const SHOWN_MAX = 10_000
const ERROR_LENGTH_MAX = 80
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

type Json = { json?: boolean }
type ListOptions = Json & {
  state?: string
  channel?: string
  receiver?: string
  kind?: string
  owner?: string
  limit: string
}

export function addDeliveries(program: Command): void {
  const deliveries = program
    .command('deliveries')
    .description('look at what was sent, and send it again, straight on the database')
  deliveries
    .command('list')
    .description('show deliveries, newest first')
    .option('--state <state>', 'PENDING, DELIVERED, DEAD or DROPPED')
    .option('--channel <channel>', 'webhook, mail or stream')
    .option('--receiver <id>', 'only those of one webhook or mail address')
    .option('--kind <kind>', 'what they tell of, such as run.failed')
    .option('--owner <name>', 'only those of receivers of one owner')
    .option('--limit <number>', `how many, up to ${SHOWN_MAX}`, '50')
    .option('--json', 'print JSON')
    .action(list)
  deliveries
    .command('show <id>')
    .description('show one with what was sent and answered, each time; a mail with its text')
    .option('--json', 'print JSON')
    .action(show)
  deliveries
    .command('redeliver <ids...>')
    .description('send again what has ended, under the same message id')
    .option('--json', 'print JSON')
    .action(redeliver)
}

async function list({ json, limit: wanted, receiver, state, ...rest }: ListOptions): Promise<void> {
  const limit = /^[1-9]\d{0,4}$/.test(wanted) ? Number(wanted) : 0
  if (limit < 1 || limit > SHOWN_MAX) throw new Error(`--limit must be a number from 1 to ${SHOWN_MAX}`)
  const asked = DeliveryListQuery.safeParse({ ...rest, state: state?.toUpperCase(), receiver_id: receiver })
  if (!asked.success) throw new Error(reasonOf(asked.error.issues[0]))
  const { owner = null, receiver_id: receiverId, limit: _limit, cursor: _cursor, ...filter } = asked.data
  await withStore(async ({ deliveries }) => {
    const found: DeliveryObject[] = []
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<Deliveries['list']>> = await deliveries.list({
        ...filter,
        ...(receiverId && { receiverId: receiverId.toLowerCase() }),
        owner,
        limit: Math.min(PAGE, limit - found.length),
        cursor,
      })
      found.push(...page.data.map(presentDelivery))
      cursor = page.nextCursor
    } while (cursor !== null && found.length < limit)
    print(json ? JSON.stringify(found) : tableOf(found))
  })
}

function reasonOf(issue: { path: PropertyKey[]; message: string } | undefined): string {
  const [name] = issue?.path ?? []
  return `--${name === 'receiver_id' ? 'receiver' : String(name)}: ${issue?.message}`
}

function tableOf(deliveries: DeliveryObject[]): string {
  if (deliveries.length === 0) return 'There are no such deliveries.'
  const rows = deliveries.map((delivery) => [
    delivery.delivery_id,
    delivery.channel,
    plain(delivery.owner),
    plain(delivery.kind),
    delivery.state,
    String(delivery.attempt_count),
    delivery.created_at,
    shortened(plain(delivery.last_error ?? '')),
  ])
  return table([['ID', 'CHANNEL', 'OWNER', 'KIND', 'STATE', 'ATTEMPTS', 'CREATED', 'LAST ERROR'], ...rows])
}

async function show(id: string, { json }: Json): Promise<void> {
  const config = readEnvironment()
  const showMail = await mailShownBy(config)
  const options = redactOptionsOf({ log: { ...config.log, redactHook: await redactHookOf(config) } })
  await withStore(async ({ deliveries }) => {
    const found = ID.test(id) ? await deliveries.find(id.toLowerCase(), null) : null
    if (!found) throw unknown(id)
    const detail = presentDeliveryDetail(found, { options, showMail })
    print(json ? JSON.stringify(detail) : textOf(detail))
  })
}

function textOf(delivery: DeliveryDetailObject): string {
  const { delivery_id, receiver_id, kind, channel, owner, state, message_id, created_at, mail, data } = delivery
  const ends = delivery.finished_at ? `since ${delivery.finished_at}` : `next attempt at ${delivery.next_attempt_at}`
  const what = mail ? ['', `Subject: ${plain(mail.subject)}`, '', plain(mail.text)] : [`told       ${jsonOf(data)}`]
  const attempts = delivery.attempts.flatMap(({ attempt, started_at, duration_ms, request, response, error }) => [
    '',
    `attempt ${attempt} at ${started_at}, ${duration_ms === null ? 'nobody said how it went' : `${Math.round(duration_ms)} ms`}`,
    `  sent     ${jsonOf(request)}`,
    `  answered ${jsonOf(response)}`,
    ...(error === null ? [] : [`  error    ${plain(error)}`]),
  ])
  return [
    `delivery   ${delivery_id} of ${created_at}`,
    `state      ${state}, ${ends}`,
    `receiver   ${channel} ${receiver_id} of ${plain(owner)}`,
    `message    ${plain(kind)} ${plain(message_id)}`,
    ...what,
    ...attempts,
  ].join('\n')
}

async function redeliver(ids: string[], { json }: Json): Promise<void> {
  await withStore(async ({ deliveries }) => {
    const sent: DeliveryObject[] = []
    for (const id of ids) {
      const delivery = ID.test(id) ? await deliveries.redeliver(id.toLowerCase(), null, ACTOR) : null
      if (delivery && delivery !== 'busy') {
        sent.push(presentDelivery(delivery))
        if (!json) print(`The relay sends ${delivery.id} again, as ${plain(delivery.messageId)}.`)
        continue
      }
      const why = delivery === 'busy' ? `${id} has not ended: it is tried by itself` : unknown(id).message
      process.stderr.write(`holdfast: ${why}\n`)
      process.exitCode = 1
    }
    if (json) print(JSON.stringify(sent))
  })
}

function unknown(id: string): Error {
  return new Error(`there is no delivery ${JSON.stringify(id)}; "holdfast deliveries list" shows them`)
}

function jsonOf(value: unknown): string {
  return plain(JSON.stringify(value) ?? 'null')
}

/** Lines stay lines. */
function plain(text: string): string {
  return text.replace(/[^\P{C}\n]/gu, '\u{fffd}')
}

function shortened(text: string): string {
  const line = text.replaceAll('\n', ' ')
  return line.length > ERROR_LENGTH_MAX ? `${line.slice(0, ERROR_LENGTH_MAX)}…` : line
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
