/** Everything that happened to a run, in order and live; only the rows in sight are made. */

import type { Run, RunEvent } from '@holdfast/client'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef } from 'react'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { formatMoment } from '../../parts/format.ts'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import table from '../../parts/table.module.css'
import { eventWords } from './event-words.ts'
import { WorkerLink } from './filter-link.tsx'
import classes from './run.module.css'
import { useEvents } from './run-data.ts'
import { clock } from './timeline-words.ts'

const ROW_PX = 36

export function EventsPanel({ run }: { run: Run }) {
  const { data: events, error, refetch } = useEvents(run.run_id)
  if (error && !events) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  if (!events) return <Loading label="Loading the events" />
  return <EventsTable events={events} />
}

function EventsTable({ events }: { events: RunEvent[] }) {
  const box = useRef<HTMLElement>(null)
  const virtual = useVirtualizer({
    count: events.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
  })
  const shown = virtual.getVirtualItems()
  const abovePx = shown[0]?.start ?? 0
  const belowPx = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section ref={box} className={`${table.box} ${classes.events}`} tabIndex={0} aria-label="Events">
      <table className={table.table} aria-rowcount={events.length + 1}>
        <thead>
          <tr>
            <th>No.</th>
            <th>When</th>
            <th>What</th>
            <th>Run</th>
            <th>Attempt</th>
            <th>Details</th>
          </tr>
        </thead>
        <tbody>
          <Room heightPx={abovePx} />
          {shown.map(({ index, key }) => (
            <tr key={key} ref={virtual.measureElement} data-index={index} aria-rowindex={index + 2}>
              <Cells event={events[index]!} />
            </tr>
          ))}
          <Room heightPx={belowPx} />
        </tbody>
      </table>
    </section>
  )
}

/** In place of the rows that are out of sight. */
function Room({ heightPx }: { heightPx: number }) {
  if (heightPx <= 0) return null
  return (
    <tr className={classes.room} aria-hidden>
      <td colSpan={6} style={{ height: heightPx }} />
    </tr>
  )
}

function Cells({ event: { seq, at, type, status, attempt, worker_id, message, data } }: { event: RunEvent }) {
  return (
    <>
      <td>{seq}</td>
      <td className={classes.when} title={formatMoment(at)}>
        {clock(Date.parse(at))}{' '}
        <span className={classes.dim}>
          · <Moment at={at} />
        </span>
      </td>
      <td>{eventWords(type)}</td>
      <td>{status && <StatusBadge state={status} />}</td>
      <td>{attempt ?? '–'}</td>
      <td>
        {message && <div className={classes.cellError}>{message}</div>}
        {worker_id && <WorkerLink workerId={worker_id} />}
        {data !== null && <div className={classes.mono}>{JSON.stringify(data)}</div>}
      </td>
    </>
  )
}
