/**
 * Spreading: who is told of a fact, by which message, and when. Pure: facts, receivers and counts come in, deliveries
 * come out.
 *
 * A program is told each fact of the kinds it asked for. People are told of documents: failures and duplicates of a
 * while in one mail, each mark of progress, the end of a batch. A receiver hears of nothing that was before it.
 */

import {
  cutText,
  type DocumentOf,
  DUPLICATE_WINDOW_SECONDS,
  type Fact,
  MAIL_DOCUMENTS_MAX,
  type MailData,
  progressId,
  type SpreadSettings,
  shortHash,
} from './fact.ts'
import { bodyOf, documentOf, errorOf, type FactRun } from './fact-body.ts'
import type { FactKind, MailKind } from './fact-kinds.ts'

/** A receiver that is enabled. */
export type Hearer = {
  id: string
  channel: 'webhook' | 'mail' | 'stream'
  /** `*` for everybody's facts. */
  owner: string
  kinds: readonly string[]
  createdAt: Date
}

export type NewDelivery = {
  receiverId: string
  channel: Hearer['channel']
  owner: string
  kind: string
  messageId: string
  data: unknown
  /** When the fact became true, which is since when it is due; null for a mail that waits for more of its kind. */
  at: Date | null
  group: { key: string; windowSeconds: number } | null
}

export type RunsOfFacts = ReadonlyMap<string, FactRun>

/** A mark of progress that was passed. `batchId` null: of the owner as a whole. */
export type Mark = {
  owner: string
  batchId: string | null
  mark: number
  /** The batch that a mail names. */
  toldBatchId: string | null
  isMailed: boolean
}

export type Counted = { owner: string; batchId: string | null; before: number; after: number }

const ENDS: readonly FactKind[] = ['run.succeeded', 'run.failed', 'run.cancelled', 'document.duplicate']
const MESSAGE_LENGTH_MAX = 1_000

export class Hearers {
  readonly #byOwner = new Map<string, Hearer[]>()

  constructor(hearers: readonly Hearer[]) {
    for (const hearer of hearers) this.#byOwner.set(hearer.owner, [...(this.#byOwner.get(hearer.owner) ?? []), hearer])
  }

  of({ owner, at }: { owner: string; at: Date }): Hearer[] {
    const known = [...(this.#byOwner.get(owner) ?? []), ...(owner === '*' ? [] : (this.#byOwner.get('*') ?? []))]
    return known.filter(({ createdAt }) => createdAt <= at)
  }

  want(fact: { owner: string; at: Date }, ...kinds: readonly (FactKind | MailKind)[]): boolean {
    return this.of(fact).some((hearer) => kinds.some((kind) => hearer.kinds.includes(kind)))
  }
}

/** The runs whose documents are to be counted as done. */
export function runsToCount(facts: readonly Fact[], runs: RunsOfFacts, hearers: Hearers): string[] {
  return facts
    .filter((fact) => fact.kind === 'run.succeeded' && documentName(fact, runs) !== null)
    .filter((fact) => hearers.want(fact, 'progress', ...(fact.batchId === null ? [] : (['batch.progress'] as const))))
    .map(({ runId }) => runId!)
}

/** The batches that may be finished now. */
export function batchesToWatch(facts: readonly Fact[], hearers: Hearers): { batchId: string; owner: string }[] {
  const watched = facts
    .filter(({ kind, batchId }) => ENDS.includes(kind) && batchId !== null)
    .filter((fact) => hearers.want(fact, 'batch.completed', 'batch_finished'))
  const ownerOf = new Map(watched.map(({ batchId, owner }) => [batchId!, owner]))
  return [...ownerOf].map(([batchId, owner]) => ({ batchId, owner }))
}

/**
 * Every multiple that was passed, also when several were at once. As long as all documents of an owner are of one
 * batch, both pass the same mark at the same moment: that is one mail, which names the batch.
 */
export function marksPassed(counts: readonly Counted[], every: number): Mark[] {
  const isSame = (a: Counted, b: Counted) => a.owner === b.owner && a.before === b.before && a.after === b.after
  return counts.flatMap((count) => {
    const { owner, batchId, before, after } = count
    const twin = counts.find((other) => (other.batchId === null) !== (batchId === null) && isSame(other, count))
    const marks: Mark[] = []
    for (let mark = (Math.floor(before / every) + 1) * every; mark <= after; mark += every)
      marks.push({ owner, batchId, mark, toldBatchId: batchId ?? twin?.batchId ?? null, isMailed: !batchId || !twin })
    return marks
  })
}

/** The fact that a mark of a batch is for programs. */
export function factOfMark({ owner, batchId, mark }: Mark, title: string | null, at: Date): Fact {
  const data = { title, done: mark }
  return { id: progressId({ owner, batchId }, mark), kind: 'batch.progress', owner, runId: null, batchId, at, data }
}

export type Spreading = {
  facts: readonly Fact[]
  hearers: Hearers
  runs: RunsOfFacts
  marks: readonly Mark[]
  titles: ReadonlyMap<string, string | null>
  /** When the marks were passed. */
  now: Date
  settings: SpreadSettings
}

export function deliveriesOf(spreading: Spreading): NewDelivery[] {
  const { facts, marks, titles, now } = spreading
  const ofMarks = marks
    .filter(({ batchId }) => batchId !== null)
    .map((mark) => factOfMark(mark, titles.get(mark.batchId!) ?? null, now))
  const told = [...facts, ...ofMarks].flatMap((fact) => deliveriesOfFact(fact, spreading))
  return joined([...told, ...marks.flatMap((mark) => mailsOfMark(mark, spreading))])
}

function deliveriesOfFact(fact: Fact, { hearers, runs, settings }: Spreading): NewDelivery[] {
  const run = fact.runId === null ? null : (runs.get(fact.runId) ?? null)
  const mail = mailOf(fact, runs, settings)
  const hearing = hearers.of(fact).filter(({ channel, kinds }) => {
    return kinds.includes(channel === 'mail' ? (mail?.data.kind ?? '') : fact.kind)
  })
  // Most facts have one reader or none.
  const body = hearing.some(({ channel }) => channel !== 'mail') ? bodyOf(fact, run) : null
  return hearing.map((hearer) => {
    if (hearer.channel !== 'mail') return delivery(hearer, fact.kind, fact.id, body, fact.at)
    const { data, group } = mail!
    return { ...delivery(hearer, data.kind, fact.id, data, group ? null : fact.at), group }
  })
}

function mailsOfMark({ owner, batchId, mark, toldBatchId, isMailed }: Mark, spreading: Spreading): NewDelivery[] {
  const { hearers, titles, now } = spreading
  const batchTitle = toldBatchId === null ? null : (titles.get(toldBatchId) ?? null)
  const data: MailData = { kind: 'progress', done: mark, batchId: toldBatchId, batchTitle }
  return hearers
    .of({ owner, at: now })
    .filter(({ channel, kinds }) => isMailed && channel === 'mail' && kinds.includes('progress'))
    .map((hearer) => delivery(hearer, 'progress', progressId({ owner, batchId }, mark), data, now))
}

function delivery(hearer: Hearer, kind: string, messageId: string, data: unknown, at: Date | null): NewDelivery {
  const { id: receiverId, channel, owner } = hearer
  return { receiverId, channel, owner, kind, messageId, data, at, group: null }
}

type Mail = { data: MailData; group: NewDelivery['group'] }

/** What people are told of a fact; null when nothing. */
function mailOf(fact: Fact, runs: RunsOfFacts, settings: SpreadSettings): Mail | null {
  if (fact.kind === 'document.duplicate') {
    const documents = [document(fact, documentOf(fact).name ?? documentName(fact, runs) ?? '')]
    const group = { key: 'duplicate', windowSeconds: DUPLICATE_WINDOW_SECONDS }
    return { data: { kind: 'duplicate', documents, more: 0 }, group }
  }
  if (fact.kind === 'run.failed') return failureMail(fact, runs, settings)
  if (fact.kind !== 'batch.completed' || fact.data.has_documents !== true) return null
  const { title = null, counts = {} } = fact.data as { title?: string | null; counts?: Record<string, number> }
  return { data: { kind: 'batch_finished', batchId: fact.batchId!, batchTitle: title, counts }, group: null }
}

function failureMail(fact: Fact, runs: RunsOfFacts, { failureWindowSeconds }: SpreadSettings): Mail | null {
  const name = documentName(fact, runs)
  if (name === null) return null
  const { batchId } = fact
  const found = errorOf(fact, runs.get(fact.runId!)!)!
  const error = { class: found.class, message: cutText(found.message, MESSAGE_LENGTH_MAX) }
  // A hash, since a class may be as long as it likes.
  const key = `failure ${batchId ?? 'none'} ${shortHash(error.class)}`
  const data: MailData = { kind: 'failure', error, documents: [document(fact, name)], more: 0, batchId }
  return { data, group: { key, windowSeconds: failureWindowSeconds } }
}

function document({ runId, at }: Fact, name: string): DocumentOf {
  return { runId: runId!, name, at: at.toISOString() }
}

function documentName({ runId }: Fact, runs: RunsOfFacts): string | null {
  return runId === null ? null : (runs.get(runId)?.document ?? null)
}

type Listing = { documents: DocumentOf[]; more: number }

/** One delivery for each group of each receiver, that of the oldest fact, with the documents of all. */
function joined(deliveries: readonly NewDelivery[]): NewDelivery[] {
  const firsts = new Map<string, NewDelivery>()
  const kept: NewDelivery[] = []
  for (const one of deliveries) {
    const name = one.group && `${one.receiverId} ${one.group.key}`
    const first = name === null ? undefined : firsts.get(name)
    if (first) {
      const { documents, more } = first.data as Listing
      const added = (one.data as Listing).documents
      const room = Math.max(0, MAIL_DOCUMENTS_MAX - documents.length)
      const data = { documents: [...documents, ...added.slice(0, room)], more: more + Math.max(0, added.length - room) }
      first.data = { ...(first.data as MailData), ...data }
    } else {
      kept.push(one)
      if (name !== null) firsts.set(name, one)
    }
  }
  return kept
}
