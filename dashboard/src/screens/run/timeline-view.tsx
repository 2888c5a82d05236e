/** The drawing of a timeline. Every bar that is pointed at, and every row that has the focus, is told below with its exact times. */

import type { Attempt, Run, RunEvent, Step } from '@holdfast/client'
import { useMemo, useState } from 'react'
import { formatCount, formatDuration } from '../../parts/format.ts'
import { useNowMs } from '../../parts/now.ts'
import classes from './timeline.module.css'
import { type Bar, layTimeline, type TimelineRow } from './timeline-layout.ts'
import { barWords, markWords, rowWords } from './timeline-words.ts'

const ROWS_MAX = 200

export function TimelineView({ run, attempts, steps, events, onAttempt }: TimelineViewProps) {
  const tickMs = useNowMs()
  // What is over does not move.
  const nowMs = run.finished_at === null ? tickMs : 0
  const { rows, ticks, now } = useMemo(
    () => layTimeline({ run, attempts, steps, events, nowMs }),
    [run, attempts, steps, events, nowMs],
  )
  const [told, setTold] = useState<string | null>(null)
  const last = ticks.at(-1)?.place ?? 0
  return (
    <section className={classes.timeline} aria-label="Timeline">
      <div className={classes.axis} aria-hidden>
        {ticks.map(({ place, seconds }) => (
          <span
            key={seconds}
            className={classes.tick}
            data-end={place === last && last > 0.93 ? true : undefined}
            style={{ left: `${place * 100}%` }}
          >
            {seconds === 0 ? '0' : formatDuration(seconds)}
          </span>
        ))}
      </div>
      <ol className={classes.rows}>
        {rows.slice(0, ROWS_MAX).map((row) => (
          <Row key={row.id} row={row} now={now} onTell={setTold} onAttempt={onAttempt} />
        ))}
      </ol>
      <p className={classes.told} aria-live="polite">
        {told ?? footing(rows.length)}
      </p>
      <Legend />
    </section>
  )
}

type TimelineViewProps = {
  run: Run
  attempts: Attempt[]
  steps: Step[]
  events: RunEvent[]
  onAttempt: (attempt: number | null) => void
}

type RowProps = {
  row: TimelineRow
  now: number | null
  onTell: (words: string | null) => void
  onAttempt: (attempt: number | null) => void
}

function Row({ row, now, onTell, onAttempt }: RowProps) {
  const { label, attempt, isStep, bars, marks, note } = row
  const words = rowWords(row)
  return (
    <li className={classes.row} data-step={isStep || undefined}>
      <button
        type="button"
        className={classes.label}
        onFocus={() => onTell(words)}
        onBlur={() => onTell(null)}
        onPointerEnter={() => onTell(words)}
        onPointerLeave={() => onTell(null)}
        onClick={() => attempt !== null && onAttempt(attempt)}
      >
        {label}
      </button>
      <div className={classes.track}>
        {now !== null && <span className={classes.now} style={{ left: `${now * 100}%` }} aria-hidden />}
        {bars.map((bar) => (
          <BarDrawn key={`${bar.kind} ${bar.fromMs}`} bar={bar} words={barWords(label, bar)} onTell={onTell} />
        ))}
        {marks.map((mark) => (
          <span
            key={`${mark.kind} ${mark.atMs}`}
            className={classes.mark}
            data-kind={mark.kind}
            role="img"
            aria-label={markWords(mark)}
            title={markWords(mark)}
            style={{ left: `${mark.place * 100}%` }}
          >
            {SIGNS[mark.kind]}
          </span>
        ))}
        {note && <span className={classes.idle}>{note}</span>}
      </div>
    </li>
  )
}

function BarDrawn({ bar, words, onTell }: { bar: Bar; words: string; onTell: RowProps['onTell'] }) {
  return (
    <span
      className={classes.bar}
      data-kind={bar.kind}
      data-state={bar.state ?? undefined}
      style={{ left: `${bar.left * 100}%`, width: `${bar.width * 100}%` }}
      role="img"
      aria-label={words}
      title={words}
      onPointerEnter={() => onTell(words)}
      onPointerLeave={() => onTell(null)}
    />
  )
}

const SIGNS = { lost: '⚡', released: '↩', adopted: '⇄', overdue: '!', 'cancel-requested': '⊘' } as const

const LEGEND = [
  ['queue', 'waiting in the queue'],
  ['backoff', 'waiting before a retry, or for its time'],
  ['work', 'working'],
] as const

function Legend() {
  return (
    <ul className={classes.legend} aria-label="What the bars mean">
      {LEGEND.map(([kind, words]) => (
        <li key={kind}>
          <span className={classes.sample} data-kind={kind} aria-hidden /> {words}
        </li>
      ))}
      <li>
        <span aria-hidden>⚡</span> lease lost
      </li>
      <li>
        <span aria-hidden>↩</span> given back
      </li>
    </ul>
  )
}

function footing(count: number): string {
  if (count <= ROWS_MAX) return 'Point at a bar, or reach its row with Tab, to read exact times.'
  return `The first ${ROWS_MAX} of ${formatCount(count)} rows; all are in the tables below.`
}
