/** The totals of the range, as the service adds them up. */

import { Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { formatDuration, formatNumber } from '../../parts/format.ts'
import { statsOf } from './overview-queries.ts'
import type { Range, StatsFilter } from './stats-range.ts'
import { formatRate, formatRatio } from './stats-words.ts'
import { Tile, Tiles } from './tile.tsx'

export function RangeNumbers({ range, filter }: { range: Range; filter: StatsFilter }) {
  const { data: stats, isError } = useQuery(statsOf(range, filter))
  if (!stats && isError) return null
  const total = stats?.total
  const shown = (value: number | null | undefined, format = formatNumber) =>
    value === null ? '–' : value === undefined ? undefined : format(value)
  const endedAs = (status: string) => ({ to: '/runs', search: { status, ...filter } })
  const created = { to: '/runs', search: { ...filter, created_after: stats?.from } }
  return (
    <>
      <Title order={2} mb={6}>
        {range.words.replace(/^l/, 'L')}
      </Title>
      <Tiles label={range.words} isSmall>
        <Tile name="Created" value={shown(total?.created)} link={created} />
        <Tile name="Succeeded" value={shown(total?.succeeded)} link={endedAs('SUCCEEDED')} />
        <Tile
          name="Failed"
          value={shown(total?.failed)}
          link={endedAs('FAILED')}
          tone={total && total.failed > 0 ? 'bad' : undefined}
        />
        <Tile name="Cancelled" value={shown(total?.cancelled)} link={endedAs('CANCELLED')} />
        <Tile name="Retried" value={shown(total?.retried)} />
        <Tile name="Reclaimed" value={shown(total?.reclaimed)} />
        <Tile name="Throughput" value={shown(total?.throughput_per_second, formatRate)} />
        <Tile name="Failure ratio" value={shown(total?.failure_ratio, formatRatio)} />
        <Tile name="Lag p50" value={shown(total?.queue_lag_seconds.p50, formatDuration)} />
        <Tile name="Duration p50" value={shown(total?.duration_seconds.p50, formatDuration)} />
      </Tiles>
    </>
  )
}
