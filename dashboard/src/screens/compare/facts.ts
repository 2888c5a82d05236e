/** What is compared of two runs besides their JSON: one row for each fact, with what is shown on either side. */

import type { Run } from '@holdfast/client'
import { formatDuration, formatMoment, formatNumber, secondsBetween } from '../../parts/format.ts'
import { percentWords } from './value-words.ts'

export type FactRow = {
  name: string
  a: string
  b: string
  /** In words, where it is a matter of more or less. */
  change: string | null
  isSame: boolean
  /** Differs between any two runs and tells nothing by itself. */
  isIncidental: boolean
}

type Fact = { name: string; text(run: Run): string | null; isIncidental?: boolean }
type Measure = { name: string; seconds(run: Run): number | null }

const FACTS: Fact[] = [
  { name: 'Status', text: ({ status }) => status },
  { name: 'Model', text: ({ model }) => model },
  { name: 'Version', text: ({ model_version: version }) => version },
  { name: 'Error', text: ({ last_error: error }) => error && `${error.class}: ${error.message}` },
  { name: 'Attempts', text: ({ attempt_count: count, max_attempts: most }) => `${count} of at most ${most}` },
  { name: 'Executor', text: (run) => run.attempts?.at(-1)?.executor ?? null },
  { name: 'Queue', text: ({ queue }) => queue },
  { name: 'Priority', text: ({ priority }) => String(priority) },
  { name: 'Owner', text: ({ owner }) => owner },
  { name: 'Tags', text: ({ tags }) => (tags.length === 0 ? null : tags.join(', ')) },
  { name: 'Cost', text: ({ cost }) => cost && costWords(cost) },
  { name: 'Processor time', text: (run) => amount(run, 'cpu_seconds', formatDuration) },
  { name: 'Worker', text: (run) => run.attempts?.at(-1)?.worker_id ?? null, isIncidental: true },
  { name: 'Created', text: ({ created_at: at }) => formatMoment(at), isIncidental: true },
  { name: 'Started', text: ({ started_at: at }) => at && formatMoment(at), isIncidental: true },
  { name: 'Finished', text: ({ finished_at: at }) => at && formatMoment(at), isIncidental: true },
]

/** Durations are never equal to the millisecond: they count as the same when they read the same. */
const MEASURES: Measure[] = [
  { name: 'Time in the queue', seconds: queueSeconds },
  { name: 'Duration', seconds: workSeconds },
]

export function factRows(a: Run, b: Run): FactRow[] {
  const rows = FACTS.map(({ name, text, isIncidental = false }): FactRow => {
    const [left, right] = [text(a) ?? '–', text(b) ?? '–']
    return { name, a: left, b: right, change: null, isSame: left === right, isIncidental }
  })
  const times = MEASURES.map(({ name, seconds }) => timeRow(name, seconds(a), seconds(b)))
  const place = rows.findIndex(({ name }) => name === 'Executor')
  return rows.toSpliced(place, 0, ...times)
}

export function timeRow(name: string, a: number | null, b: number | null): FactRow {
  const [left, right] = [a, b].map((seconds) => (seconds === null ? '–' : formatDuration(seconds))) as [string, string]
  const isSame = left === right
  return { name, a: left, b: right, change: isSame ? null : timeChange(a, b), isSame, isIncidental: false }
}

export function timeChange(a: number | null, b: number | null): string | null {
  if (a === null || b === null || a === b) return null
  const difference = `${b > a ? '+' : '−'}${formatDuration(Math.abs(b - a))}`
  return a > 0 && b > 0 ? `${difference} (${percentWords(a, b)})` : difference
}

/** From when it was submitted until its first attempt began. */
export function queueSeconds({ created_at: created, attempts, started_at: started }: Run): number | null {
  const first = attempts?.[0]?.started_at ?? attempts?.[0]?.submitted_at ?? started
  return first ? Math.max(0, secondsBetween(created, first)) : null
}

/** From the begin of its first attempt to its end. */
export function workSeconds({ attempts, started_at: started, finished_at: finished }: Run): number | null {
  const first = attempts?.[0]?.started_at ?? started
  return first && finished ? Math.max(0, secondsBetween(first, finished)) : null
}

function costWords({ state, held, settled, currency }: NonNullable<Run['cost']>): string {
  const value = state === 'HELD' ? held : settled
  return `${formatNumber(value)}${currency ? ` ${currency}` : ''}${state === 'HELD' ? ' (estimated)' : ''}`
}

function amount({ attempts }: Run, name: 'cpu_seconds', words: (value: number) => string): string | null {
  const known = attempts?.map((attempt) => attempt[name]).filter((value) => value !== null) ?? []
  return known.length === 0 ? null : words(known.reduce((sum, value) => sum + value, 0))
}
