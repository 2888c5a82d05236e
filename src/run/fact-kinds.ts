/** The kinds of facts somebody may want to hear of, and which events of runs each of them is made from. */

export const FACT_KINDS = [
  'run.created',
  'run.started',
  'run.succeeded',
  'run.failed',
  'run.cancelled',
  'run.retry_scheduled',
  'run.reclaimed',
  'run.overdue',
  'document.duplicate',
  'batch.progress',
  'batch.completed',
  'quota.warning',
  'quota.exceeded',
] as const

export type FactKind = (typeof FACT_KINDS)[number]

/** What people can get mail about; each is told of documents only. */
export const MAIL_KINDS = ['duplicate', 'failure', 'progress', 'batch_finished'] as const

export type MailKind = (typeof MAIL_KINDS)[number]

export type WantedEvent = { type: string; onlyBatches: boolean }

const ENDS = ['succeeded', 'failed', 'cancelled']
const any = (...types: string[]): WantedEvent[] => types.map((type) => ({ type, onlyBatches: false }))
const inBatches = (...types: string[]): WantedEvent[] => types.map((type) => ({ type, onlyBatches: true }))

// Quota facts are no events of a run: admission asks for them by their own name.
const WANTED: Record<FactKind | MailKind, WantedEvent[]> = {
  'run.created': any('created'),
  'run.started': any('started'),
  'run.succeeded': any('succeeded'),
  'run.failed': any('failed'),
  'run.cancelled': any('cancelled'),
  'run.retry_scheduled': any('retry_scheduled'),
  'run.reclaimed': any('reclaimed', 'lost'),
  'run.overdue': any('overdue'),
  'document.duplicate': any('document.duplicate'),
  'batch.progress': inBatches('succeeded'),
  'batch.completed': inBatches(...ENDS, 'document.duplicate'),
  'quota.warning': any('quota.warning'),
  'quota.exceeded': any('quota.exceeded'),
  duplicate: any('document.duplicate'),
  failure: any('failed'),
  progress: any('succeeded'),
  batch_finished: inBatches(...ENDS, 'document.duplicate'),
}

/** The events that must be written down for a receiver of these kinds, each once. */
export function wantedEvents(kinds: readonly (FactKind | MailKind)[]): WantedEvent[] {
  const wanted = new Map<string, WantedEvent>()
  for (const { type, onlyBatches } of kinds.flatMap((kind) => WANTED[kind]))
    wanted.set(type, { type, onlyBatches: onlyBatches && (wanted.get(type)?.onlyBatches ?? true) })
  return [...wanted.values()]
}
