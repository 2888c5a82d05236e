/** The steps of a run: what is done, what is under way, and what each gave to the next. */

import type { Step } from '@holdfast/client'
import { formatBytes, formatDuration, formatNumber } from '../../parts/format.ts'
import { Elapsed, Moment } from '../../parts/moment.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { RunLink } from './filter-link.tsx'
import classes from './run.module.css'

const ROWS_MAX = 300

export function StepsTable({ steps }: { steps: Step[] }) {
  return (
    <>
      <TableBox label="Steps" columns={['Step', 'State', 'Attempt', 'Tries', 'Started', 'Took', 'Output']}>
        <tbody>
          {steps.slice(0, ROWS_MAX).map((step) => (
            <Row key={step.name} step={step} />
          ))}
        </tbody>
      </TableBox>
      {steps.length > ROWS_MAX && (
        <p className={classes.dim}>
          The first {ROWS_MAX} of {formatNumber(steps.length)} steps.
        </p>
      )}
    </>
  )
}

function Row({ step }: { step: Step }) {
  const { name, state, attempt, tries, started_at, finished_at, items, from_run_id } = step
  return (
    <tr>
      <td>
        {name}
        {items && (
          <div className={classes.dim}>
            {formatNumber(items.done)} of {items.of === null ? 'so far unknown' : formatNumber(items.of)} items
          </div>
        )}
        {from_run_id && (
          <div className={classes.dim}>
            taken over from <RunLink runId={from_run_id} />
          </div>
        )}
      </td>
      <td>
        <StatusBadge state={state} />
      </td>
      <td>{attempt ?? '–'}</td>
      <td>{tries}</td>
      <td className={classes.when}>
        <Moment at={started_at} />
      </td>
      <td className={classes.when}>
        {state === 'RUNNING' || finished_at !== null ? <Elapsed from={started_at} to={finished_at} /> : '–'}
        {step.cpu_seconds !== null && <div className={classes.dim}>{formatDuration(step.cpu_seconds)} of CPU</div>}
      </td>
      <td>
        <Output step={step} />
      </td>
    </tr>
  )
}

function Output({ step: { last_error, output, output_bytes, output_ref } }: { step: Step }) {
  if (last_error) {
    return (
      <div className={classes.cellError}>
        <b>{last_error.class}</b> {last_error.message}
      </div>
    )
  }
  if (output_ref === null) return <span className={classes.dim}>–</span>
  if (output === null && output_bytes !== null && output_bytes > 4) {
    return <span className={classes.dim}>{formatBytes(output_bytes)}, not shown here</span>
  }
  return <div className={`${classes.cellError} ${classes.mono}`}>{JSON.stringify(output)}</div>
}
