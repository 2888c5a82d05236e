/** One run: what happened, why it waits, what it was given, what it answered, and what can be done about it. */

import { HoldfastError, type Run } from '@holdfast/client'
import { Stack } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { Way } from '../../parts/way.tsx'
import { CancelNotice } from './cancel-notice.tsx'
import classes from './run.module.css'
import { RunActs } from './run-acts.tsx'
import { useRun, useSteps } from './run-data.ts'
import { RunError } from './run-error.tsx'
import { RunFacts } from './run-facts.tsx'
import { RunNote } from './run-note.tsx'
import { RunProgress } from './run-progress.tsx'
import { RunTabs } from './run-tabs.tsx'
import { WaitingNotice } from './waiting-notice.tsx'

export default function RunScreen() {
  const { runId = '' } = useParams({ strict: false })
  const { data: run, error, refetch } = useRun(runId)
  if (run) return <Shown run={run} />
  if (error instanceof HoldfastError && error.status === 404) return <NoRun runId={runId} />
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  return <Loading label="Loading the run" />
}

function Shown({ run }: { run: Run }) {
  const { data: steps = [] } = useSteps(run)
  return (
    <>
      <PageTitle
        title={run.title ?? run.model}
        tab={`${run.status} ${run.title ?? run.model}`}
        note={<RunNote run={run} />}
      >
        <RunActs run={run} steps={steps} />
      </PageTitle>
      <Stack gap="md">
        <WaitingNotice run={run} />
        <CancelNotice run={run} />
        <RunError run={run} />
        <RunProgress run={run} steps={steps} />
        <RunFacts run={run} />
        <RunTabs run={run} steps={steps} />
      </Stack>
    </>
  )
}

function NoRun({ runId }: { runId: string }) {
  return (
    <>
      <PageTitle title="No such run" />
      <EmptyState title="There is no run with this id.">
        {runId} may have been mistyped, may belong to someone else, or was removed after the time runs are kept.{' '}
        <span className={classes.inText}>
          <Way to="/runs">Go to the runs</Way>
        </span>
        .
      </EmptyState>
    </>
  )
}
