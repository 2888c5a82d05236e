/** How far a bulk operation is, and what became of each run. It goes on in the service whether this is open or not. */

import type { BulkItem, BulkOperation, BulkOutcome } from '@holdfast/client'
import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { client } from '../../client.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { formatNumber } from '../../parts/format.ts'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import table from '../../parts/table.module.css'
import { useMay } from '../../session.tsx'
import classes from './bulk.module.css'
import { rememberBulk, useBegunBulk } from './bulk-memory.ts'
import { OUTCOMES, outcomesOf, stateWords } from './bulk-words.ts'
import { useBulk } from './use-bulk.ts'

const ITEMS_SHOWN = 200

export default function BulkProgressDialog({ operationId, onClose }: { operationId: string; onClose: () => void }) {
  const { data, error, refetch } = useBulk(operationId)
  const begun = useBegunBulk()
  const close = () => {
    // Its end was seen: nobody needs to be reminded of it.
    if (data && data.state !== 'RUNNING' && begun?.id === operationId) rememberBulk(null)
    onClose()
  }
  const title = data?.action === 'cancel' ? 'Cancel matching runs' : 'Retry matching runs'
  return (
    <Dialog isOpen onClose={close} title={data ? title : 'Bulk operation'} size="lg">
      {error && !data && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading label="Reading the operation" />}
      {data && <Progress operation={data} total={begun?.id === operationId ? begun.count : null} />}
    </Dialog>
  )
}

function Progress({ operation, total }: { operation: BulkOperation; total: number | null }) {
  const { operation_id: id, state, processed, error, created_by, created_at } = operation
  const [chosen, setChosen] = useState<BulkOutcome | null>(null)
  const outcomes = outcomesOf(operation)
  const outcome = chosen ?? outcomes[0]?.outcome ?? null
  const isRunning = state === 'RUNNING'
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="sm">
        <Text size="sm" role="status">
          {stateWords(operation, total)}
        </Text>
        {isRunning && <StopButton operation={operation} />}
      </Group>
      {isRunning && total !== null && (
        <progress
          className={classes.bar}
          max={Math.max(total, processed)}
          value={processed}
          aria-label="Runs looked at"
        />
      )}
      {error && (
        <Text size="sm" c="red">
          {error}
        </Text>
      )}
      <fieldset className={classes.outcomes} aria-label="Outcomes" style={{ border: 0, padding: 0, margin: 0 }}>
        {outcomes.map((one) => (
          <button
            key={one.outcome}
            type="button"
            className={classes.outcome}
            aria-pressed={one.outcome === outcome}
            onClick={() => setChosen(one.outcome)}
          >
            {OUTCOMES[one.outcome]} <strong>{formatNumber(one.count)}</strong>
          </button>
        ))}
      </fieldset>
      {outcome && <Items operationId={id} outcome={outcome} count={operation.counts[outcome]} />}
      <Text size="xs" c="dimmed" component="div">
        Begun by {created_by} <Moment at={created_at} />. It goes on when this is closed; this address leads back here.
      </Text>
    </Stack>
  )
}

function StopButton({ operation: { operation_id: id, cancel_requested_at } }: { operation: BulkOperation }) {
  const queries = useQueryClient()
  const mayAct = useMay('submitter')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => client.bulk.cancel(id),
    onSuccess: (operation) => queries.setQueryData(['bulk', id], operation),
  })
  if (!mayAct) return null
  return (
    <>
      {error && <ErrorNotice error={error} />}
      <Button
        size="xs"
        variant="default"
        disabled={cancel_requested_at !== null}
        loading={isPending}
        onClick={() => mutate()}
      >
        Stop here
      </Button>
    </>
  )
}

function Items({ operationId, outcome, count }: { operationId: string; outcome: BulkOutcome; count: number }) {
  const { data: items, error } = useQuery({
    // Read again as there are more, but not for each one of many.
    queryKey: ['bulk', operationId, 'items', outcome, Math.min(count, ITEMS_SHOWN)],
    queryFn: ({ signal }) => itemsOf(operationId, outcome, signal),
    placeholderData: (before, query) => (query?.queryKey[3] === outcome ? before : undefined),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (error) return <ErrorNotice error={error} />
  if (!items) return <Loading label="Reading the runs" />
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by the keyboard too */}
      <section className={classes.items} aria-label={`${OUTCOMES[outcome]} runs`} tabIndex={0}>
        <table className={table.table}>
          <thead>
            <tr>
              <th scope="col">Run</th>
              <th scope="col">{items.some((item) => item.new_run_id) ? 'New run' : 'Outcome'}</th>
              <th scope="col">Detail</th>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <Item key={item.run_id} item={item} />
            ))}
          </tbody>
        </table>
      </section>
      {count > items.length && (
        <Text size="xs" c="dimmed">
          The first {formatNumber(items.length)} of {formatNumber(count)}.
        </Text>
      )}
    </>
  )
}

function Item({ item: { run_id, new_run_id, outcome, detail } }: { item: BulkItem }) {
  return (
    <tr>
      <td>
        <RunLink runId={run_id} />
      </td>
      <td>{new_run_id ? <RunLink runId={new_run_id} /> : OUTCOMES[outcome]}</td>
      <td>{detail ?? '–'}</td>
    </tr>
  )
}

function RunLink({ runId }: { runId: string }) {
  return (
    <Link to="/runs/$runId" params={{ runId }} style={{ color: 'var(--mantine-color-anchor)' }}>
      {runId}
    </Link>
  )
}

async function itemsOf(operationId: string, outcome: BulkOutcome, signal: AbortSignal): Promise<BulkItem[]> {
  const found: BulkItem[] = []
  for await (const item of client.bulk.items(operationId, { outcome, signal })) {
    found.push(item)
    if (found.length >= ITEMS_SHOWN) break
  }
  return found
}
