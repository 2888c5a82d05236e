/** The bars and marks of a timeline in words, with exact times. */

import { formatDuration } from '../../parts/format.ts'
import type { Bar, Mark, TimelineRow } from './timeline-layout.ts'

const KINDS: Record<Bar['kind'], string> = {
  scheduled: 'waited for its time',
  queue: 'waited in the queue',
  backoff: 'waited before the retry',
  'handed-over': 'handed to an engine',
  work: 'worked',
  step: 'step',
}

const MARKS: Record<Mark['kind'], string> = {
  lost: 'The lease was lost: the worker died, froze or lost its connection',
  released: 'Given back by its worker, which was shutting down',
  adopted: 'Another worker went on with it',
  overdue: 'Overdue from here on',
  'cancel-requested': 'Asked to stop',
}

/** `Attempt 1: worked, LOST, 08:00:01.250 to 08:00:05.000 (3.8 s)`. */
export function barWords(label: string, { kind, state, fromMs, toMs }: Bar): string {
  const what = [KINDS[kind], state].filter(Boolean).join(', ')
  const times = `${clock(fromMs)} to ${toMs === null ? 'now' : clock(toMs)}`
  const long = toMs === null ? '' : ` (${formatDuration((toMs - fromMs) / 1_000)})`
  return `${label}: ${what}, ${times}${long}`
}

/** All of a row. */
export function rowWords({ label, bars, marks, note }: TimelineRow): string {
  const words = [...bars.map((bar) => barWords(label, bar)), ...marks.map(markWords)]
  if (note) words.push(`${label}: ${note}`)
  return words.join('; ')
}

export function markWords({ kind, atMs }: Mark): string {
  return `${MARKS[kind]}, ${clock(atMs)}`
}

const CLOCK = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
})

/** The time of day to the millisecond. */
export function clock(atMs: number): string {
  return CLOCK.format(atMs)
}
