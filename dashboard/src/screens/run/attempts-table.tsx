/** Every attempt of a run with all that is known of it. */

import type { Attempt } from '@holdfast/client'
import { Progress, VisuallyHidden } from '@mantine/core'
import { formatBytes, formatDuration } from '../../parts/format.ts'
import { Elapsed, Moment } from '../../parts/moment.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { TabLink, WorkerLink } from './filter-link.tsx'
import { progressOf } from './progress-words.ts'
import classes from './run.module.css'

const ROWS_MAX = 300

export function AttemptsTable({ attempts, chosen }: { attempts: Attempt[]; chosen: number | null }) {
  const shown = attempts.slice(-ROWS_MAX)
  return (
    <TableBox
      label="Attempts"
      columns={['Attempt', 'State', 'Started', 'Took', 'Worker', 'Used', 'What happened', 'Log']}
    >
      <tbody>
        {shown.map((attempt) => (
          <Row key={attempt.attempt} attempt={attempt} isChosen={attempt.attempt === chosen} />
        ))}
      </tbody>
    </TableBox>
  )
}

function Row({ attempt, isChosen }: { attempt: Attempt; isChosen: boolean }) {
  const { attempt: number, state, started_at, submitted_at, finished_at, worker_id, executor, log_ref } = attempt
  return (
    <tr className={isChosen ? classes.chosenRow : undefined} aria-current={isChosen || undefined}>
      <td>{number}</td>
      <td>
        <StatusBadge state={state} />
      </td>
      <td className={classes.when}>
        <Moment at={started_at ?? submitted_at} />
      </td>
      <td className={classes.when}>
        <Elapsed from={started_at ?? submitted_at} to={finished_at} />
      </td>
      <td>
        <WorkerLink workerId={worker_id} />
        <div className={classes.dim}>{executor}</div>
        {attempt.external_ref !== null && <div className={classes.mono}>{JSON.stringify(attempt.external_ref)}</div>}
      </td>
      <td>
        <Used attempt={attempt} />
      </td>
      <td>
        <Happened attempt={attempt} />
      </td>
      <td>
        {log_ref === null ? (
          <span className={classes.dim}>none</span>
        ) : (
          <TabLink search={{ tab: 'logs', attempt: String(number) }}>
            Log<VisuallyHidden> of attempt {number}</VisuallyHidden>
          </TabLink>
        )}
      </td>
    </tr>
  )
}

function Used({ attempt: { cpu_seconds, peak_memory_bytes } }: { attempt: Attempt }) {
  if (cpu_seconds === null && peak_memory_bytes === null) return <span className={classes.dim}>not measured</span>
  return (
    <>
      {cpu_seconds !== null && <div>{formatDuration(cpu_seconds)} of CPU</div>}
      {peak_memory_bytes !== null && <div>{formatBytes(peak_memory_bytes)} at most</div>}
    </>
  )
}

function Happened({ attempt: { error, exit_code, progress, finished_at } }: { attempt: Attempt }) {
  const told = progressOf(progress)
  return (
    <>
      {error && (
        <div className={classes.cellError}>
          <b>{error.class}</b> {error.message}
        </div>
      )}
      {exit_code !== null && <div>exit code {exit_code}</div>}
      {error?.stack && (
        <details>
          <summary className={classes.summary}>Stack</summary>
          <pre className={classes.stack}>{error.stack}</pre>
        </details>
      )}
      {told && (
        <div>
          {told.fraction !== null && finished_at === null && (
            <Progress value={told.fraction * 100} aria-label="Progress" w={120} mb={2} />
          )}
          <span className={classes.dim}>{told.words}</span>
        </div>
      )}
    </>
  )
}
