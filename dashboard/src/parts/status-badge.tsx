/** The state of a run, an attempt or a step: a word, and a shape beside its colour. */

import type { AttemptState, RunStatus, Step } from '@holdfast/client'
import classes from './status-badge.module.css'

export type AnyState = RunStatus | AttemptState | Step['state']

const LOOKS: Record<AnyState, { shape: string; tone: string }> = {
  PENDING: { shape: '○', tone: 'waiting' },
  SUBMITTED: { shape: '○', tone: 'waiting' },
  WAITING: { shape: '○', tone: 'waiting' },
  RUNNING: { shape: '◐', tone: 'running' },
  SUCCEEDED: { shape: '✓', tone: 'good' },
  FAILED: { shape: '✕', tone: 'bad' },
  LOST: { shape: '⚡', tone: 'bad' },
  CANCELLED: { shape: '⊘', tone: 'quiet' },
  RELEASED: { shape: '↩', tone: 'quiet' },
}

export function StatusBadge({ state, note }: { state: AnyState; note?: string }) {
  const { shape, tone } = LOOKS[state]
  return (
    <span className={classes.badge} data-tone={tone}>
      <span aria-hidden>{shape}</span> {state}
      {note && <span className={classes.note}> · {note}</span>}
    </span>
  )
}
