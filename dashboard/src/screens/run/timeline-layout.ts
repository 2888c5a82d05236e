/**
 * Where everything of a run lies on one axis of time: how long each attempt waited before it began and for what, how long it worked,
 * what its steps took, and the moments when a lease was lost or given back. Places are fractions of the axis, from 0 to 1.
 */

import type { Attempt, AttemptState, Run, RunEvent, Step } from '@holdfast/client'

export type BarKind = 'scheduled' | 'queue' | 'backoff' | 'handed-over' | 'work' | 'step'

export type Bar = {
  kind: BarKind
  /** Of an attempt or a step; null for a time of waiting. */
  state: AttemptState | Step['state'] | null
  left: number
  width: number
  fromMs: number
  /** Null while it goes on. */
  toMs: number | null
}

export type Mark = {
  kind: 'lost' | 'released' | 'adopted' | 'overdue' | 'cancel-requested'
  place: number
  atMs: number
}

export type TimelineRow = {
  id: string
  label: string
  /** Which attempt it belongs to; null for a time after the last one. */
  attempt: number | null
  isStep: boolean
  bars: Bar[]
  marks: Mark[]
  /** What is to be said where there is no bar. */
  note: string | null
}

export type Tick = { place: number; seconds: number }

export type Timeline = { fromMs: number; toMs: number; rows: TimelineRow[]; ticks: Tick[]; now: number | null }

export type TimelineFacts = { run: Run; attempts: Attempt[]; steps: Step[]; events: RunEvent[]; nowMs: number }

const TICKS_MAX = 6
/** So that a run that has just begun has an axis, and one that took no time too. */
const LENGTH_MS_MIN = { active: 1_000, over: 10 }
const MARKS: Record<string, Mark['kind']> = {
  adopted: 'adopted',
  overdue: 'overdue',
  cancel_requested: 'cancel-requested',
}

export function layTimeline({ run, attempts, steps, events, nowMs }: TimelineFacts): Timeline {
  const fromMs = Date.parse(run.created_at)
  const isOver = run.finished_at !== null
  const endMs = isOver ? Date.parse(run.finished_at!) : Math.max(nowMs, latestMs(run, attempts))
  const lengthMs = isOver
    ? Math.max(LENGTH_MS_MIN.over, endMs - fromMs)
    : Math.max(LENGTH_MS_MIN.active, (endMs - fromMs) * 1.03)
  const axis = new Axis(fromMs, lengthMs, endMs)
  const rows: TimelineRow[] = []
  let freeMs = fromMs
  for (const attempt of attempts) {
    rows.push(attemptRow(axis, attempt, freeMs, readyMs(run, attempt.attempt, events), events))
    for (const step of steps) if (belongs(step, attempt)) rows.push(stepRow(axis, step, attempt))
    freeMs = attempt.finished_at === null ? endMs : Date.parse(attempt.finished_at)
  }
  if (run.status === 'PENDING') {
    const ready = readyMs(run, attempts.length + 1, events)
    const bars = waitBars(axis, freeMs, null, ready, attempts.length > 0)
    rows.push({ id: 'waiting', label: 'Waiting', attempt: null, isStep: false, bars, marks: [], note: null })
  }
  rows.push(...steps.filter((step) => !attempts.some((one) => belongs(step, one))).map(idleRow))
  const toMs = fromMs + lengthMs
  return { fromMs, toMs, rows, ticks: ticksOf(lengthMs), now: isOver ? null : axis.place(nowMs) }
}

class Axis {
  readonly #fromMs: number
  readonly #lengthMs: number
  /** Where what has not ended ends on the axis. */
  readonly endMs: number

  constructor(fromMs: number, lengthMs: number, endMs: number) {
    this.#fromMs = fromMs
    this.#lengthMs = lengthMs
    this.endMs = endMs
  }

  place(atMs: number): number {
    return Math.min(1, Math.max(0, (atMs - this.#fromMs) / this.#lengthMs))
  }

  bar(kind: BarKind, fromMs: number, toMs: number | null, state: Bar['state'] = null): Bar {
    const left = this.place(fromMs)
    return { kind, state, left, width: Math.max(0, this.place(toMs ?? this.endMs) - left), fromMs, toMs }
  }
}

/** The clocks of workers and of this page may be ahead of each other. */
function latestMs(run: Run, attempts: Attempt[]): number {
  const times = [run.created_at, ...attempts.flatMap((one) => [one.submitted_at, one.started_at, one.finished_at])]
  return Math.max(...times.filter((at) => at !== null).map((at) => Date.parse(at)))
}

function belongs(step: Step, { attempt }: Attempt): boolean {
  return step.from_run_id === null && step.attempt === attempt && step.started_at !== null
}

/** When an attempt could begin at the earliest: the time the run asked for, or the end of a backoff. Null for at once. */
function readyMs(run: Run, attempt: number, events: RunEvent[]): number | null {
  const before = events.findLast((event) => event.type === 'retry_scheduled' && event.attempt === attempt - 1)
  const told = (before?.data as { available_at?: unknown } | null | undefined)?.available_at
  if (typeof told === 'string') return Date.parse(told)
  const isCurrent = attempt === Math.max(1, run.attempt_count + (run.status === 'PENDING' ? 1 : 0))
  return isCurrent && run.available_at !== null ? Date.parse(run.available_at) : null
}

/** The wait before an attempt in its parts; `untilMs` is null while it still waits. */
function waitBars(axis: Axis, fromMs: number, untilMs: number | null, ready: number | null, isRetry: boolean): Bar[] {
  const endMs = untilMs ?? axis.endMs
  const first = isRetry ? 'backoff' : 'scheduled'
  if (ready === null || ready <= fromMs) return endMs > fromMs ? [axis.bar('queue', fromMs, untilMs)] : []
  if (ready >= endMs) return [axis.bar(first, fromMs, untilMs)]
  return [axis.bar(first, fromMs, ready), axis.bar('queue', ready, untilMs)]
}

function attemptRow(axis: Axis, one: Attempt, freeMs: number, ready: number | null, events: RunEvent[]): TimelineRow {
  const submittedMs = Date.parse(one.submitted_at)
  const startedMs = one.started_at === null ? null : Date.parse(one.started_at)
  const finishedMs = one.finished_at === null ? null : Date.parse(one.finished_at)
  const bars = waitBars(axis, freeMs, submittedMs, ready, one.attempt > 1)
  if (startedMs === null) bars.push(axis.bar('handed-over', submittedMs, finishedMs, one.state))
  else {
    if (startedMs > submittedMs) bars.push(axis.bar('handed-over', submittedMs, startedMs))
    bars.push(axis.bar('work', startedMs, finishedMs, one.state))
  }
  const { attempt } = one
  return {
    id: `attempt-${attempt}`,
    label: `Attempt ${attempt}`,
    attempt,
    isStep: false,
    bars,
    marks: marksOf(axis, one, events),
    note: null,
  }
}

function marksOf(axis: Axis, { attempt, state, finished_at }: Attempt, events: RunEvent[]): Mark[] {
  const marks: Mark[] = []
  const add = (kind: Mark['kind'], at: string) =>
    marks.push({ kind, place: axis.place(Date.parse(at)), atMs: Date.parse(at) })
  for (const event of events) {
    const kind = MARKS[event.type]
    if (kind && event.attempt === attempt) add(kind, event.at)
  }
  if (finished_at !== null && state === 'LOST') add('lost', finished_at)
  if (finished_at !== null && state === 'RELEASED') add('released', finished_at)
  return marks
}

function stepRow(axis: Axis, step: Step, attempt: Attempt): TimelineRow {
  // A step that failed has no end of its own: its attempt ended with it, or begins it again later.
  const ended = step.finished_at ?? (step.state === 'FAILED' || step.state === 'PENDING' ? attempt.finished_at : null)
  const toMs = ended === null ? null : Date.parse(ended)
  const bars = [axis.bar('step', Date.parse(step.started_at!), toMs, step.state)]
  return {
    id: `step-${step.name}`,
    label: step.name,
    attempt: attempt.attempt,
    isStep: true,
    bars,
    marks: [],
    note: null,
  }
}

function idleRow(step: Step): TimelineRow {
  const note = step.from_run_id ? 'taken over from the run before' : 'has not begun'
  return { id: `step-${step.name}`, label: step.name, attempt: null, isStep: true, bars: [], marks: [], note }
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400]

/** Round numbers of seconds since the run was made. */
export function ticksOf(lengthMs: number): Tick[] {
  const seconds = lengthMs / 1_000
  const rough = seconds / TICKS_MAX
  let step = STEPS.find((one) => one >= rough) ?? Math.ceil(rough / 86_400) * 86_400
  if (rough < 0.5) step = 10 ** Math.ceil(Math.log10(rough))
  const count = Math.floor(seconds / step + 1e-9)
  return Array.from({ length: count + 1 }, (_, index) => ({ place: (index * step) / seconds, seconds: index * step }))
}
