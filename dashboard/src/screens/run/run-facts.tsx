/** What is known of a run besides its state: whose, where, when, from what, at what price. Each leads to the runs that share it. */

import type { Run, RunCost, RunRetry } from '@holdfast/client'
import type { ReactNode } from 'react'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { formatNumber } from '../../parts/format.ts'
import { Elapsed, Moment } from '../../parts/moment.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { FilterLink, RunLink, WorkerLink } from './filter-link.tsx'
import classes from './run.module.css'
import { useRetries } from './run-data.ts'

export function RunFacts({ run }: { run: Run }) {
  const { data: retries = [] } = useRetries(run)
  const facts = Object.entries({ ...whose(run), ...when(run), ...how(run), ...again(retries) })
  return (
    <section className={classes.facts} aria-label="About this run">
      <Facts facts={facts.filter(([, value]) => value !== null).map(([name, value]) => ({ name, value }))} />
    </section>
  )
}

/** What is null is not shown. */
type Named = Record<string, ReactNode>

function whose({ owner, queue, priority, tags, batch_id, retry_of, reproduces }: Run): Named {
  return {
    Owner: <FilterLink filter={{ owner }}>{owner}</FilterLink>,
    Queue: <FilterLink filter={{ queue }}>{queue}</FilterLink>,
    Priority: formatNumber(priority),
    Tags: tags.length === 0 ? null : <Tags tags={tags} />,
    Batch: batch_id && <FilterLink filter={{ batch_id }}>{batch_id.slice(0, 8)}…</FilterLink>,
    'Retry of': retry_of && <RunLink runId={retry_of} />,
    Reproduces: reproduces && <RunLink runId={reproduces} />,
  }
}

function again(retries: RunRetry[]): Named {
  if (retries.length === 0) return {}
  const links = retries.map(({ run_id, status }) => (
    <span key={run_id} className={classes.inline}>
      <RunLink runId={run_id} /> <StatusBadge state={status} />
    </span>
  ))
  return { 'Retried by': links }
}

function Tags({ tags }: { tags: string[] }) {
  return (
    <span className={classes.inline}>
      {tags.map((tag) => (
        <FilterLink key={tag} filter={{ tag }}>
          {tag}
        </FilterLink>
      ))}
    </span>
  )
}

function when(run: Run): Named {
  const { created_at, started_at, finished_at, overdue_since } = run
  return {
    Created: <Moment at={created_at} />,
    Waited: <Elapsed from={created_at} to={started_at ?? finished_at} />,
    'First started': started_at && <Moment at={started_at} />,
    Took: started_at && <Elapsed from={started_at} to={finished_at} />,
    Finished: finished_at && <Moment at={finished_at} />,
    'Overdue since': overdue_since && <Moment at={overdue_since} />,
  }
}

function how({ attempt_count, max_attempts, lease, payload_hash, cost }: Run): Named {
  return {
    Attempts: `${attempt_count} of ${max_attempts}`,
    Worker: lease && <WorkerLink workerId={lease.owner} />,
    Lease: lease && <Lease expiresAt={lease.expires_at} epoch={lease.epoch} />,
    Cost: cost && costWords(cost),
    'Payload hash': <PayloadHash hash={payload_hash} />,
  }
}

function Lease({ expiresAt, epoch }: { expiresAt: string; epoch: number }) {
  return (
    <>
      expires <Moment at={expiresAt} /> · epoch {epoch}
    </>
  )
}

function costWords({ state, held, settled, currency }: RunCost): string {
  const amount = (value: number) => `${formatNumber(value)}${currency ? ` ${currency}` : ''}`
  if (state === 'HELD') return `${amount(held)} held as an estimate`
  return state === 'SETTLED' ? `${amount(settled)} charged` : 'nothing was charged'
}

function PayloadHash({ hash }: { hash: string }) {
  return (
    <span className={classes.inline}>
      <span className={classes.mono} title={hash}>
        {hash.slice(0, 12)}…
      </span>
      <CopyButton label="Copy the payload hash" text={hash} />
    </span>
  )
}
