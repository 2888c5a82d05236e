/** Under the title: the state, which run it is, and of what. Changes of the state are told to screen readers. */

import type { Run } from '@holdfast/client'
import { CopyButton } from '../../parts/copy-button.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { FilterLink } from './filter-link.tsx'
import classes from './run.module.css'

export function RunNote({ run }: { run: Run }) {
  const { run_id, status, model, model_version, cancel_requested_at, overdue_since } = run
  const isStopping = status === 'RUNNING' && cancel_requested_at !== null
  const note = isStopping ? 'stopping' : overdue_since === null ? undefined : 'overdue'
  return (
    <div className={classes.note}>
      <span role="status">
        <StatusBadge state={status} {...(note && { note })} />
      </span>
      <FilterLink filter={{ model, model_version }}>
        {model}@{model_version}
      </FilterLink>
      <span className={classes.id}>
        <span>{run_id}</span>
        <CopyButton label="Copy the run id" text={run_id} />
      </span>
    </div>
  )
}
