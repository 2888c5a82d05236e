/** What a run answered. A large one is fetched only when it is asked for. */

import type { Run } from '@holdfast/client'
import { Anchor, Button, Group } from '@mantine/core'
import { useState } from 'react'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { formatBytes } from '../../parts/format.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { Loading } from '../../parts/loading.tsx'
import { apiLink } from '../../place.ts'
import { useResult, useResultBytes } from './run-data.ts'

const BYTES_UNASKED_MAX = 1_048_576

export default function ResultPanel({ run }: { run: Run }) {
  if (run.status !== 'SUCCEEDED') return <NoResult run={run} />
  return <Result key={run.run_id} run={run} />
}

function Result({ run }: { run: Run }) {
  const { run_id, result_ref, links } = run
  const { data: bytes, isPending } = useResultBytes(run)
  const [isAsked, setAsked] = useState(false)
  const isInline = result_ref === 'inline'
  const isLarge = !isInline && typeof bytes === 'number' && bytes > BYTES_UNASKED_MAX
  const isWanted = isInline || isAsked || (!isPending && !isLarge)
  const { data: value, error, isSuccess, refetch } = useResult(run_id, isWanted)
  const href = apiLink(links.result)
  const fileName = `result-${run_id}.json`
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  if (isSuccess) return <JsonView value={value} label="Result" fileName={fileName} href={href} />
  if (isLarge && !isAsked) {
    return (
      <EmptyState title={`The result is large: ${formatBytes(bytes)}.`}>
        <Group justify="center" mt="xs">
          <Button size="xs" onClick={() => setAsked(true)}>
            Show it
          </Button>
          <Anchor href={href} download={fileName} size="sm">
            Download it
          </Anchor>
        </Group>
      </EmptyState>
    )
  }
  return <Loading label="Loading the result" />
}

function NoResult({ run: { status } }: { run: Run }) {
  if (status === 'FAILED') return <EmptyState title="The run failed and has no result." />
  if (status === 'CANCELLED') return <EmptyState title="The run was cancelled and has no result." />
  return <EmptyState title="There is no result yet.">It appears here by itself when the run has succeeded.</EmptyState>
}
