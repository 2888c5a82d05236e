/** Whether claims rotate among the owners who wait in a queue, and with what weights. Saved together. */

import type { Queue } from '@holdfast/client'
import { ActionIcon, Button, Group, Stack, Switch, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { CloseIcon } from '../../parts/icons.tsx'
import { say } from '../../shell/notices.tsx'
import { isSame, rowsOf, type WeightRow, weightsOf, withOneMore, wrongWith } from './weights-form.ts'

export function FairShareForm({ queue }: { queue: Queue }) {
  const queries = useQueryClient()
  const [isFair, setFair] = useState(queue.fair_share)
  const [rows, setRows] = useState(() => rowsOf(queue.weights))
  const weights = weightsOf(rows)
  const isChanged = isFair !== queue.fair_share || weights === null || !isSame(weights, queue.weights)
  const save = useMutation({
    mutationFn: () => client.queues.set(queue.queue, { fair_share: isFair, weights: weights! }),
    onSuccess: async (saved) => {
      setRows(rowsOf(saved.weights))
      await queries.invalidateQueries({ queryKey: ['queues'] })
      say(`Queue ${queue.queue} is saved.`)
    },
  })
  const change = (key: number, more: Partial<WeightRow>) =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...more } : row)))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (weights !== null && isChanged) save.mutate()
      }}
    >
      <Stack gap="xs">
        <Title order={3}>Sharing</Title>
        <Switch
          size="sm"
          label="Fair among owners"
          description="Those who wait take turns, however many runs each has. Otherwise runs start by priority and age."
          checked={isFair}
          onChange={(event) => setFair(event.currentTarget.checked)}
        />
        {(isFair || rows.length > 0) && (
          <Text size="xs" c="dimmed">
            An owner with weight 2 gets two runs for each one of an owner without a weight.
          </Text>
        )}
        {rows.map((row) => (
          <WeightFields
            key={row.key}
            row={row}
            wrong={wrongWith(row, rows)}
            onChange={(more) => change(row.key, more)}
            onRemove={() => setRows(rows.filter(({ key }) => key !== row.key))}
          />
        ))}
        {save.error && <ErrorNotice error={save.error} />}
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={() => setRows(withOneMore(rows))}>
            Add a weight
          </Button>
          <Button size="xs" type="submit" disabled={!isChanged || weights === null} loading={save.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

type WeightFieldsProps = {
  row: WeightRow
  wrong: string | null
  onChange: (more: Partial<WeightRow>) => void
  onRemove: () => void
}

function WeightFields({ row: { owner, weight }, wrong, onChange, onRemove }: WeightFieldsProps) {
  return (
    <Group gap="xs" align="flex-start" wrap="nowrap">
      <TextInput
        size="xs"
        aria-label="Owner"
        placeholder="owner"
        maxLength={255}
        value={owner}
        onChange={(event) => onChange({ owner: event.currentTarget.value })}
      />
      <TextInput
        size="xs"
        w={120}
        aria-label={`Weight of ${owner || 'the new owner'}`}
        inputMode="decimal"
        value={weight}
        error={wrong}
        onChange={(event) => onChange({ weight: event.currentTarget.value })}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={`Remove the weight of ${owner || 'the new owner'}`}
        onClick={onRemove}
      >
        <CloseIcon />
      </ActionIcon>
    </Group>
  )
}
