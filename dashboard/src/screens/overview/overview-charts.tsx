/** The same six questions for every range, drawn over time. */

import { Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { Chart } from '../../parts/chart.tsx'
import { type ChartLook, DURATION_STEPS } from '../../parts/chart-series.ts'
import { formatDuration, formatMoment, formatNumber } from '../../parts/format.ts'
import { useAddress } from '../../parts/use-address.ts'
import { textsIn } from '../../search.ts'
import classes from './overview.module.css'
import { statsOf } from './overview-queries.ts'
import type { Range, StatsFilter } from './stats-range.ts'
import { type ChartName, type StatsSeries, statsSeries } from './stats-series.ts'
import { formatRate, formatRatio } from './stats-words.ts'

type Asked = Pick<ChartLook, 'kind' | 'format' | 'steps'> & { name: ChartName; caption: string }

const durations = { format: formatDuration, steps: DURATION_STEPS }

const CHARTS: Asked[] = [
  { name: 'ended', caption: 'Runs ended', kind: 'bars', format: formatNumber },
  { name: 'throughput', caption: 'Throughput', kind: 'lines', format: formatRate },
  { name: 'failures', caption: 'Failure ratio', kind: 'lines', format: formatRatio },
  { name: 'lag', caption: 'Queue lag', kind: 'lines', ...durations },
  { name: 'duration', caption: 'Duration', kind: 'lines', ...durations },
  { name: 'arrivals', caption: 'Arrivals', kind: 'lines', format: formatNumber },
]

export function OverviewCharts({ range, filter }: { range: Range; filter: StatsFilter }) {
  const { data: stats, isError } = useQuery(statsOf(range, filter))
  const series = useMemo(() => stats && statsSeries(stats), [stats])
  const { search, change } = useAddress()
  const tables = textsIn(search, 'table')
  // What went wrong is said above.
  if (!stats && isError) return null
  if (!stats || !series) {
    return (
      <div className={classes.charts} aria-hidden>
        {CHARTS.map(({ name }) => (
          <Skeleton key={name} height={230} opacity={0.4} />
        ))}
      </div>
    )
  }
  const isYoung = Date.parse(stats.since) > Date.parse(stats.from)
  return (
    <>
      <div className={classes.charts}>
        {CHARTS.map((asked) => (
          <OneChart
            key={asked.name}
            asked={asked}
            series={series}
            wholeLabel={range.words}
            isTable={tables.includes(asked.name)}
            onTable={(isTable) => {
              const others = tables.filter((name) => name !== asked.name)
              change({ table: isTable ? [...others, asked.name] : others })
            }}
          />
        ))}
      </div>
      <Text size="xs" c="dimmed" mb="md">
        Counted up to {formatMoment(stats.rolled_up_at)}
        {isYoung && `, from ${formatMoment(stats.since)} on`}. Percentiles are within 5 %.
      </Text>
    </>
  )
}

type OneChartProps = {
  asked: Asked
  series: StatsSeries
  wholeLabel: string
  isTable: boolean
  onTable: (isTable: boolean) => void
}

function OneChart({ asked, series, wholeLabel, isTable, onTable }: OneChartProps) {
  const { name, caption, kind, format, steps } = asked
  const look = useMemo<ChartLook>(() => {
    const { starts, widthSeconds, charts } = series
    return { kind, format, starts, widthSeconds, series: charts[name], ...(steps && { steps }) }
  }, [series, name, kind, format, steps])
  const toggle = useCallback((is: boolean) => onTable(is), [onTable])
  return <Chart caption={caption} look={look} wholeLabel={wholeLabel} isTable={isTable} onTable={toggle} />
}
