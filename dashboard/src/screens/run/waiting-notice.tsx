/** Why a run has not started, with what it waits for and what can be done about it. */

import type { Run, Waiting } from '@holdfast/client'
import { Text } from '@mantine/core'
import { formatCount } from '../../parts/format.ts'
import { Moment } from '../../parts/moment.tsx'
import { Way } from '../../parts/way.tsx'
import { ApprovalActs } from './approval-acts.tsx'
import { RunLink } from './filter-link.tsx'
import { Notice } from './notice.tsx'
import classes from './run.module.css'

const TITLES: Record<Waiting['reason'], string> = {
  approval: 'Waits for approval',
  scheduled: 'Waits for its time',
  backoff: 'Waits before the next attempt',
  'queue-paused': 'Its queue is paused',
  'no-worker': 'No worker takes it',
  concurrency: 'Waits for a free place',
  queued: 'Waits for its turn',
}

export function WaitingNotice({ run }: { run: Run }) {
  const { waiting } = run
  if (waiting === null) return null
  return (
    <Notice tone="waiting" title={TITLES[waiting.reason]} label="Why it waits">
      <Text size="sm">{sentence(waiting.detail)}</Text>
      <Specifics run={run} waiting={waiting} />
      {waiting.reason === 'approval' && <ApprovalActs run={run} />}
    </Notice>
  )
}

function Specifics({ run, waiting }: { run: Run; waiting: Waiting }) {
  const { reason, until, ahead, ahead_capped, held_by, offered_versions, since } = waiting
  return (
    <>
      {until !== null && (
        <Text size="sm">
          It may start <Moment at={until} />.
        </Text>
      )}
      {since !== null && (
        <Text size="sm">
          It has been waiting for this since <Moment at={since} />.
        </Text>
      )}
      {ahead !== null && ahead > 0 && (
        <Text size="sm">
          {formatCount(ahead, ahead_capped)} {ahead === 1 && !ahead_capped ? 'run starts' : 'runs start'} before it.
        </Text>
      )}
      {held_by !== null && held_by.length > 0 && <Holders runIds={held_by} />}
      {reason === 'no-worker' && <NoWorker offered={offered_versions ?? []} />}
      {reason === 'queue-paused' && (
        <Text size="sm">
          An operator can resume it:{' '}
          <Way to="/queues" search={{ queue: run.queue }}>
            queue {run.queue}
          </Way>
        </Text>
      )}
    </>
  )
}

function Holders({ runIds }: { runIds: string[] }) {
  return (
    <Text size="sm" component="div">
      Held by{' '}
      <span className={classes.inline}>
        {runIds.map((runId) => (
          <RunLink key={runId} runId={runId} />
        ))}
      </span>
    </Text>
  )
}

function NoWorker({ offered }: { offered: string[] }) {
  return (
    <Text size="sm">
      {offered.length > 0 && `Offered: version ${offered.join(', ')}. `}
      It starts by itself once there is such a worker: <Way to="/workers">the workers there are</Way>
    </Text>
  )
}

/** As a sentence begins and ends. */
function sentence(detail: string): string {
  return `${detail.slice(0, 1).toUpperCase()}${detail.slice(1)}${/[.!?]$/.test(detail) ? '' : '.'}`
}
