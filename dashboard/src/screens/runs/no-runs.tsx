/** An empty list: there are no runs yet, or none that match. Says how to get some. */

import { Button, Code, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { client } from '../../client.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { apiUrl } from '../../place.ts'
import { useMay, useSession } from '../../session.tsx'
import type { Condition } from './filter.ts'
import { sentenceOf } from './filter-words.ts'

type NoRunsProps = { conditions: readonly Condition[]; onChange: (wanted: Condition[]) => void }

export default function NoRuns({ conditions, onChange }: NoRunsProps) {
  if (conditions.length === 0) return <FirstRun />
  return (
    <EmptyState title="No run matches">
      {sentenceOf(conditions)}. Runs that come to match appear here by themselves.
      <Group justify="center" mt="sm">
        <Button size="xs" variant="default" onClick={() => onChange([])}>
          Clear the filters
        </Button>
      </Group>
    </EmptyState>
  )
}

function FirstRun() {
  const { mode } = useSession()
  const maySubmit = useMay('submitter')
  const { data: model = 'baseline_forecast_v1' } = useQuery({
    queryKey: ['models', 'first-name'],
    queryFn: async ({ signal }) => {
      for await (const { name } of client.models.list({ signal })) return name
      return 'baseline_forecast_v1'
    },
    staleTime: 60_000,
  })
  const line = curlLine(model, mode === 'tokens')
  return (
    <EmptyState title="There are no runs yet">
      {maySubmit && (
        <>
          <Link to="/submit" search={{ model }} style={{ color: 'var(--mantine-color-anchor)' }}>
            Submit one here
          </Link>
          , or from anywhere:
          <Group gap="xs" mt="sm" wrap="nowrap" justify="center">
            <Code block ta="left" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
              {line}
            </Code>
            <CopyButton text={line} label="Copy the command" />
          </Group>
        </>
      )}
    </EmptyState>
  )
}

function curlLine(model: string, needsToken: boolean): string {
  const token = needsToken ? ` -H 'Authorization: Bearer $HOLDFAST_TOKEN'`.replaceAll(`'`, '"') : ''
  const body = JSON.stringify({ model, parameters: {} })
  return `curl ${apiUrl}/runs -H 'Content-Type: application/json'${token} -d '${body}'`
}
