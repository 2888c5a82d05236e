/** For those who see only their own runs: what of them waits and runs, and what came last. */

import { Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { client } from '../../client.ts'
import { useLive } from '../../live/use-live.ts'
import { formatCount } from '../../parts/format.ts'
import { Elapsed, Moment } from '../../parts/moment.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { Way } from '../../parts/way.tsx'
import type { Counted } from './attention.ts'
import { NEWS_MS, REFRESH_MS, runsCounted } from './overview-queries.ts'
import { Tile, Tiles } from './tile.tsx'

export function OwnNumbers() {
  const waiting = useQuery(runsCounted({ status: 'PENDING' }))
  const running = useQuery(runsCounted({ status: 'RUNNING' }))
  return (
    <>
      <Tiles label="Now">
        <Tile name="Waiting" note="PENDING" value={written(waiting.data)} link={shownBy('PENDING')} />
        <Tile name="Running" note="RUNNING" value={written(running.data)} link={shownBy('RUNNING')} />
      </Tiles>
      <Latest />
    </>
  )
}

function Latest() {
  const { data: runs } = useQuery({
    queryKey: ['runs', 'latest'],
    queryFn: async ({ signal }) => (await client.listPage({}, { limit: 8, signal })).data,
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  })
  useLive([['runs', 'latest']], { everyMs: NEWS_MS })
  if (!runs || runs.length === 0) return null
  return (
    <div style={{ marginBottom: 18 }}>
      <Title order={2} mb={6}>
        Latest
      </Title>
      <TableBox label="Latest runs" columns={['State', 'Run', 'Created', 'Took']}>
        <tbody>
          {runs.map((run) => (
            <tr key={run.run_id}>
              <td>
                <StatusBadge state={run.status} />
              </td>
              <td>
                <Way to={`/runs/${run.run_id}`}>{run.title ?? run.model}</Way>
              </td>
              <td>
                <Moment at={run.created_at} />
              </td>
              <td>
                <Elapsed from={run.started_at} to={run.finished_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </TableBox>
    </div>
  )
}

function shownBy(status: string) {
  return { to: '/runs', search: { status } }
}

function written(counted: Counted | undefined): string | undefined {
  return counted && formatCount(counted.count, counted.isCapped)
}
