/**
 * Facts: what somebody may want to hear of, and what is kept of it until it is told. The id says which fact it is, so
 * that no fact is told twice under two names.
 */

import { createHash } from 'node:crypto'
import type { FactKind, MailKind } from './fact-kinds.ts'

export type Fact = {
  id: string
  kind: FactKind
  owner: string
  runId: string | null
  batchId: string | null
  at: Date
  data: Record<string, unknown>
}

export type NewFact = Omit<Fact, 'at'>

export type SpreadSettings = {
  /** Finished documents between two progress facts. */
  progressEvery: number
  /** Failures within this time are told in one mail. */
  failureWindowSeconds: number
  /** A batch in which nothing came for so long may be finished. */
  batchQuietSeconds: number
}

export const SPREAD_DEFAULTS: SpreadSettings = {
  progressEvery: 1_000,
  failureWindowSeconds: 300,
  batchQuietSeconds: 30,
}

/** Duplicates within this time are told in one mail, so that a folder that is uploaded twice is one. */
export const DUPLICATE_WINDOW_SECONDS = 60

/** A mail names so many documents; the others are counted. */
export const MAIL_DOCUMENTS_MAX = 20

/** What a mail tells, as it is kept in its delivery. */
export type MailData =
  | { kind: Extract<MailKind, 'duplicate'>; documents: DocumentOf[]; more: number }
  | {
      kind: Extract<MailKind, 'failure'>
      error: { class: string; message: string }
      documents: DocumentOf[]
      more: number
      batchId: string | null
    }
  | { kind: Extract<MailKind, 'progress'>; done: number; batchId: string | null; batchTitle: string | null }
  | {
      kind: Extract<MailKind, 'batch_finished'>
      batchId: string
      batchTitle: string | null
      counts: Record<string, number>
    }

export type DocumentOf = { runId: string; name: string; at: string }

/** Of one mark of progress: of a batch, or of an owner as a whole. */
export function progressId(of: { owner: string; batchId: string | null }, mark: number): string {
  return `${of.batchId === null ? shortHash(of.owner) : withoutDashes(of.batchId)}_progress_${mark}`
}

/** A batch that grows after it was complete is complete once more. */
export function completedId(batchId: string, total: number): string {
  return `${withoutDashes(batchId)}_completed_${total}`
}

export function shortHash(...parts: unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

function withoutDashes(id: string): string {
  return id.replaceAll('-', '')
}

const CUT = '… (cut)'

/** Says so where it cut. Never leaves half a character, which no JSON column takes. */
export function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text
  return `${text.slice(0, lengthMax - CUT.length).replace(/[\ud800-\udbff]$/, '')}${CUT}`
}
