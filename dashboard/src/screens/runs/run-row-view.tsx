/** One row: all of it is a link to the run. On a phone it has two lines. */

import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import { Elapsed, Moment } from '../../parts/moment.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import type { RunRow } from './run-row.ts'
import classes from './run-table.module.css'

type RowProps = {
  row: RunRow
  index: number
  topPx: number
  heightPx: number
  isTabStop: boolean
  isMarked: boolean
  onFocus: (runId: string) => void
  onMark: (runId: string) => void
}

export const Row = memo(function Row({ row, index, topPx, heightPx, isTabStop, isMarked, onFocus, onMark }: RowProps) {
  const { runId, status, note, title, model, modelVersion, owner, queue, tags, errorClass } = row
  const name = title ?? model
  return (
    <li
      className={classes.row}
      style={{ transform: `translateY(${topPx}px)`, height: heightPx }}
      aria-posinset={index + 1}
      aria-setsize={-1}
      data-marked={isMarked || undefined}
    >
      <span className={classes.mark}>
        {/* The key x does the same for the row that has the focus. */}
        <input
          type="checkbox"
          tabIndex={-1}
          checked={isMarked}
          aria-label={`Mark ${name}`}
          onChange={() => onMark(runId)}
        />
      </span>
      <Link
        to="/runs/$runId"
        params={{ runId }}
        preload={false}
        className={classes.grid}
        tabIndex={isTabStop ? 0 : -1}
        data-run={runId}
        onFocus={() => onFocus(runId)}
      >
        <span className={classes.status}>
          <StatusBadge state={status} />
        </span>
        <span className={classes.title}>
          {note && <span className={classes.note}>{note}</span>}
          <bdi>{name}</bdi>
        </span>
        <span className={classes.model}>
          <bdi>
            {model}
            <span className={classes.version}>@{modelVersion}</span>
          </bdi>
        </span>
        <span className={classes.owner}>
          <bdi>{owner}</bdi>
        </span>
        <span className={classes.queue}>
          <bdi>{queue}</bdi>
        </span>
        <span className={classes.tags}>
          {tags.map((tag) => (
            <bdi key={tag} className={classes.tag}>
              {tag}
            </bdi>
          ))}
        </span>
        <span className={classes.error}>
          <bdi>{errorClass}</bdi>
        </span>
        <Attempts row={row} />
        <span className={classes.duration}>
          <Elapsed from={row.startedAt} to={row.finishedAt} />
        </span>
        <span className={classes.created}>
          <Moment at={row.createdAt} />
        </span>
      </Link>
    </li>
  )
})

function Attempts({ row: { attemptCount, maxAttempts } }: { row: RunRow }) {
  return (
    <span className={classes.attempts} title={`${attemptCount} of at most ${maxAttempts} attempts`}>
      {attemptCount}
      <span className={classes.version}>/{maxAttempts}</span>
    </span>
  )
}
