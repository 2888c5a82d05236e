/** More about a file: its result in words, what it is, and the way to everything else there is to know. */

import type { Upload } from '@holdfast/client'
import { Anchor, Group, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { client } from '../../client.ts'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { formatBytes } from '../../parts/format.ts'
import { Moment } from '../../parts/moment.tsx'
import { Way } from '../../parts/way.tsx'
import { apiLink } from '../../place.ts'
import classes from './documents.module.css'
import { readResult } from './read-result.ts'

export function FileDetails({ upload }: { upload: Upload }) {
  const { run_id: runId, state, type, size, created_at: at, links } = upload
  return (
    <div className={classes.details}>
      {state === 'DONE' && runId && <Result runId={runId} />}
      <Group gap="md" mt="xs">
        <Text size="xs" c="dimmed">
          {type} · {formatBytes(size)} · handed in <Moment at={at} />
        </Text>
        <Anchor href={apiLink(links.file)} download size="xs">
          Download the file
        </Anchor>
        {runId && (
          <Way to={`/runs/${runId}`} className={classes.small}>
            All details
          </Way>
        )}
      </Group>
    </div>
  )
}

function Result({ runId }: { runId: string }) {
  const { data, error, refetch, isPending } = useQuery({
    queryKey: ['result', runId],
    queryFn: ({ signal }) => client.result(runId, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  if (isPending) return <Skeleton height={48} aria-label="Loading the result" />
  const { text, lines, more } = readResult(data)
  return (
    <>
      {text && (
        <Text size="sm" mb="xs">
          {text}
        </Text>
      )}
      <dl className={classes.lines}>
        {lines.map(({ label, value }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {more > 0 && (
        <Text size="xs" c="dimmed">
          and {more} more in the details
        </Text>
      )}
    </>
  )
}
