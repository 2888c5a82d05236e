/** What became of the request: a new run, or one that was there already; and limits that are near. */

import type { Submitted } from '@holdfast/client'
import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { client } from '../../client.ts'
import { about, useLive } from '../../live/use-live.ts'
import { StatusBadge } from '../../parts/status-badge.tsx'
import classes from './submit.module.css'

export function Outcome({ submitted, onAnother }: { submitted: Submitted; onAnother: () => void }) {
  const { runId, wasDuplicate, warnings, run: first } = submitted
  const queryKey = ['run', runId, 'submitted']
  const { data: run = first } = useQuery({
    queryKey,
    queryFn: ({ signal }) => client.get(runId, { signal }),
    initialData: first,
  })
  useLive([queryKey], { concerns: about(runId) })
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.focus(), [])
  return (
    <Alert
      color={wasDuplicate ? 'blue' : 'teal'}
      variant="light"
      role="status"
      ref={box}
      tabIndex={-1}
      title={wasDuplicate ? 'An existing run was matched' : 'A new run was made'}
    >
      <Stack gap="xs">
        {wasDuplicate && (
          <Text size="sm">
            No new run was made: an earlier request with the same key or the same input had made this one.
          </Text>
        )}
        <Group gap="sm">
          <StatusBadge state={run.status} />
          <Anchor component={Link} to={`/runs/${runId}`} className={classes.code}>
            {runId}
          </Anchor>
        </Group>
        {run.waiting && run.waiting.reason !== 'queued' && <Text size="sm">{run.waiting.detail}</Text>}
        {warnings.map((warning) => (
          <Text size="sm" key={warning} fw={500}>
            <span aria-hidden>⚠ </span>
            {warning}
          </Text>
        ))}
        <Group gap="xs">
          <Button size="xs" component={Link} to={`/runs/${runId}`}>
            Open the run
          </Button>
          <Button size="xs" variant="default" onClick={onAnother}>
            Submit another
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}
