/**
 * Many runs in few requests. Every item has a key of its own from the beginning, so that whatever part of a batch is sent again makes no
 * second run.
 *
 * An item that is refused is an outcome, not an exception; so is one that could not be sent because the service was out of reach.
 */

import { HoldfastError, Transient } from './errors.ts'
import { refusalOf } from './refusal.ts'
import { retryDelayMs } from './retry.ts'
import { type BatchItem, type KeyedBody, type Submitted, submitBody, submitted } from './submit.ts'
import type { CallOptions, Transport } from './transport.ts'
import type { Problem, SubmittedRun } from './wire.ts'

const ITEMS_MAX = 1_000
/** The service takes 16 MiB; the rest is for what stands around the items. */
const BYTES_MAX = 15 * 1024 * 1024

export type BatchOutcome =
  | { ok: true; submitted: Submitted; key: string }
  | { ok: false; error: HoldfastError; key: string }

type Item = { text: string; key: string; index: number }
type ItemAnswer = { status: number; run?: SubmittedRun | null; problem?: Problem | null }

/** One outcome per item, in their order. Rejects only when the caller aborts. */
export async function submitBatch(
  transport: Transport,
  items: readonly BatchItem[],
  options: CallOptions,
): Promise<BatchOutcome[]> {
  const outcomes: BatchOutcome[] = []
  let outage: HoldfastError | null = null
  for (const chunk of chunksOf(items.map(itemOf))) {
    for (const [index, outcome] of (await outcomesOf(transport, chunk, outage, options)).entries()) {
      outcomes[chunk[index]!.index] = outcome
    }
    // What could not be told to the service now will not be heard a moment later: the rest is not even tried.
    outage ??= outageAmong(outcomes)
  }
  return outcomes
}

function itemOf(item: BatchItem, index: number): Item {
  const { model, parameters, ...options } = item
  const body: KeyedBody = submitBody(model, parameters, options)
  return { text: JSON.stringify(body), key: body.idempotency_key, index }
}

/** In order, and none above the limits of a request; an item that is too large by itself is for the service to refuse. */
function* chunksOf(items: Item[]): Generator<Item[], void, void> {
  const encoder = new TextEncoder()
  let chunk: Item[] = []
  let bytes = 0
  for (const item of items) {
    const size = encoder.encode(item.text).byteLength + 1
    if (chunk.length === ITEMS_MAX || (chunk.length > 0 && bytes + size > BYTES_MAX)) {
      yield chunk
      chunk = []
      bytes = 0
    }
    chunk.push(item)
    bytes += size
  }
  if (chunk.length > 0) yield chunk
}

async function outcomesOf(
  transport: Transport,
  chunk: Item[],
  outage: HoldfastError | null,
  options: CallOptions,
): Promise<BatchOutcome[]> {
  if (outage) return chunk.map(({ key }) => ({ ok: false, error: outage, key }))
  const outcomes = await sent(transport, chunk, options)
  const { clock, connection } = transport
  // Items may be refused for the moment while others of the same request are accepted.
  for (let retriesDone = 0; ; retriesDone += 1) {
    const again = chunk.flatMap((item, index) => (isPassing(outcomes[index]!) ? [{ item, index }] : []))
    const first = again[0] && outcomes[again[0].index]
    if (!first || first.ok) return outcomes
    const delayMs = retryDelayMs({ kind: 'refused', error: first.error }, retriesDone, 'always', connection.retriesMax)
    if (delayMs === null) return outcomes
    await clock.sleep(delayMs, options.signal)
    const repeated = await sent(
      transport,
      again.map(({ item }) => item),
      options,
    )
    again.forEach(({ index }, place) => {
      outcomes[index] = repeated[place]!
    })
  }
}

async function sent(transport: Transport, chunk: Item[], options: CallOptions): Promise<BatchOutcome[]> {
  try {
    const answers = await request(transport, chunk, options)
    return chunk.map(({ key }, index) => outcomeOf(answers[index], key, transport.clock.nowMs()))
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    return chunk.map(({ key }) => ({ ok: false, error, key }))
  }
}

async function request(transport: Transport, chunk: Item[], options: CallOptions): Promise<ItemAnswer[]> {
  const bodyText = `{"runs":[${chunk.map(({ text }) => text).join(',')}]}`
  const call = { method: 'POST', path: '/runs/batch', repeat: 'always', ...options } as const
  const { body } = await transport.send({ ...call, bodyText })
  return (body as { data: ItemAnswer[] }).data
}

function outcomeOf(answer: ItemAnswer | undefined, key: string, nowMs: number): BatchOutcome {
  if (answer?.run && answer.status < 300) return { ok: true, submitted: submitted(answer.run, key), key }
  const text = JSON.stringify(answer?.problem ?? null)
  const error = refusalOf({ status: answer?.status ?? 500, text, retryAfter: null, path: '/runs/batch', nowMs })
  return { ok: false, error, key }
}

/** The whole request had its own repeats already; they are no business of single items. */
function isPassing(outcome: BatchOutcome): boolean {
  return !outcome.ok && outcome.error.constructor === Transient
}

function outageAmong(outcomes: BatchOutcome[]): HoldfastError | null {
  const lost = outcomes.find((outcome) => !outcome.ok && outcome.error instanceof Transient && !isPassing(outcome))
  return lost && !lost.ok ? lost.error : null
}
