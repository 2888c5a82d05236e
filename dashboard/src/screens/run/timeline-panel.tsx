/** Attempts and steps over time, and the same in tables with all there is to know about each. */

import type { Run, Step } from '@holdfast/client'
import { Title } from '@mantine/core'
import { EmptyState } from '../../parts/empty-state.tsx'
import { AttemptsTable } from './attempts-table.tsx'
import classes from './run.module.css'
import { useEvents } from './run-data.ts'
import { StepsTable } from './steps-table.tsx'
import { TimelineView } from './timeline-view.tsx'

export function TimelinePanel({ run, steps, attempt, onAttempt }: TimelinePanelProps) {
  const { data: events = [] } = useEvents(run.run_id)
  const attempts = run.attempts ?? []
  return (
    <>
      <TimelineView run={run} attempts={attempts} steps={steps} events={events} onAttempt={onAttempt} />
      <Title order={2} className={classes.section}>
        Attempts
      </Title>
      {attempts.length === 0 ? (
        <EmptyState title="No attempt has begun yet." />
      ) : (
        <AttemptsTable attempts={attempts} chosen={attempt} />
      )}
      {steps.length > 0 && (
        <>
          <Title order={2} className={classes.section}>
            Steps
          </Title>
          <StepsTable steps={steps} />
        </>
      )}
    </>
  )
}

type TimelinePanelProps = {
  run: Run
  steps: Step[]
  attempt: number | null
  onAttempt: (attempt: number | null) => void
}
