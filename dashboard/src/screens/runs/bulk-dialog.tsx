/** Counts what an act on the filter would touch, says what will happen, and begins it. */

import type { BulkAction, BulkCount } from '@holdfast/client'
import { Alert, Button, Checkbox, Group, Loader, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { rememberBulk } from './bulk-memory.ts'
import { actWords, bulkConditions, runsWords, whatHappens } from './bulk-words.ts'
import { type Condition, filterOf } from './filter.ts'
import { sentenceOf } from './filter-words.ts'

type BulkDialogProps = {
  action: BulkAction
  conditions: readonly Condition[]
  onClose: () => void
  onStarted: (operationId: string) => void
}

export default function BulkDialog({ action, conditions, onClose, onStarted }: BulkDialogProps) {
  const request = { action, filter: filterOf(bulkConditions(action, conditions)) }
  const counted = useQuery({
    queryKey: ['bulk', 'count', request],
    queryFn: ({ signal }) => client.bulk.count(request, { signal }),
    staleTime: 0,
    gcTime: 0,
  })
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => client.bulk.start(request),
    onSuccess: ({ operation_id: id }) => {
      const { count, capped } = counted.data!
      rememberBulk({ id, count: capped ? null : count })
      onStarted(id)
    },
  })
  return (
    <Dialog isOpen onClose={onClose} title={action === 'retry' ? 'Retry matching runs' : 'Cancel matching runs'}>
      <Stack gap="sm">
        {counted.error && <ErrorNotice error={counted.error} onRetry={() => void counted.refetch()} />}
        {counted.isFetching && (
          <Group gap="xs" role="status">
            <Loader size="xs" aria-hidden /> <Text size="sm">Counting the runs…</Text>
          </Group>
        )}
        {error && <ErrorNotice error={error} />}
        {counted.data && !counted.isFetching && (
          <Confirm
            action={action}
            conditions={conditions}
            count={counted.data}
            isPending={isPending}
            onAct={() => mutate()}
            onClose={onClose}
          />
        )}
      </Stack>
    </Dialog>
  )
}

type ConfirmProps = {
  action: BulkAction
  conditions: readonly Condition[]
  count: BulkCount
  isPending: boolean
  onAct: () => void
  onClose: () => void
}

function Confirm({ action, conditions, count, isPending, onAct, onClose }: ConfirmProps) {
  const isEverything = conditions.length === 0
  const [isMeant, setMeant] = useState(!isEverything)
  const isNone = count.count === 0
  return (
    <>
      <Text size="sm">
        <strong>{isNone ? 'No run' : upper(runsWords(count))}</strong>{' '}
        {isEverything
          ? `that can be ${action === 'retry' ? 'retried' : 'cancelled'}`
          : `where ${lower(sentenceOf(conditions))}`}
        .
      </Text>
      {!isNone && (
        <Text size="sm" c="dimmed">
          {whatHappens(action, conditions)} Runs made from now on are not touched.
        </Text>
      )}
      {isEverything && !isNone && (
        <Alert color="red" variant="light" title="No filter is set">
          <Text size="sm" mb="xs">
            This is about every {action === 'retry' ? 'failed' : 'waiting and running'} run you may act on, of all
            models and queues.
          </Text>
          <Checkbox
            size="sm"
            label="I mean all of them"
            checked={isMeant}
            onChange={(event) => setMeant(event.currentTarget.checked)}
          />
        </Alert>
      )}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose} autoFocus>
          {isNone ? 'Close' : 'Keep as it is'}
        </Button>
        {!isNone && (
          <Button
            color={action === 'cancel' ? 'red' : undefined}
            disabled={!isMeant}
            loading={isPending}
            onClick={onAct}
          >
            {actWords(action, count)}
          </Button>
        )}
      </Group>
    </>
  )
}

function upper(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function lower(words: string): string {
  return words.charAt(0).toLowerCase() + words.slice(1)
}
