/** What receivers can hear of, in words. */

import type { FactKind, MailKind } from '@holdfast/client'

export const FACT_WORDS: Record<FactKind, string> = {
  'run.created': 'A run was accepted',
  'run.started': 'An attempt began',
  'run.succeeded': 'A run succeeded',
  'run.failed': 'A run failed',
  'run.cancelled': 'A run was cancelled',
  'run.retry_scheduled': 'An attempt failed and there will be another',
  'run.reclaimed': 'A worker was lost and its run taken back',
  'run.overdue': 'An attempt takes much longer than expected',
  'document.duplicate': 'A document had been uploaded before',
  'batch.progress': 'More documents of a batch are done',
  'batch.completed': 'Everything in a batch has ended',
  'quota.warning': 'A limit is nearly used up',
  'quota.exceeded': 'A request was refused by a limit',
}

export const MAIL_WORDS: Record<MailKind, string> = {
  duplicate: 'Documents that had been uploaded before',
  failure: 'Documents that could not be processed',
  progress: 'Progress: many more documents are done',
  batch_finished: 'A batch is finished',
}

export const FACT_KINDS = Object.keys(FACT_WORDS) as FactKind[]
export const MAIL_KINDS = Object.keys(MAIL_WORDS) as MailKind[]

/** Of a delivery. A kind this page does not know is its own word. */
export function kindWords(kind: string): string {
  if (kind === 'test') return 'Test'
  return FACT_WORDS[kind as FactKind] ?? MAIL_WORDS[kind as MailKind] ?? kind
}
