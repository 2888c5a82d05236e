/**
 * The first screen: what there is now, what needs a person, and how it went. Statistics and workers are for operators; others see
 * the same of their own runs, as far as there is an answer for them.
 */

import { SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLive } from '../../live/use-live.ts'
import { Loading } from '../../parts/loading.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { useAddress } from '../../parts/use-address.ts'
import { textIn } from '../../search.ts'
import { useMay } from '../../session.tsx'
import { AttentionList } from './attention-list.tsx'
import { DeadLetters } from './dead-letters.tsx'
import { FirstUse } from './first-use.tsx'
import { OperatorNumbers } from './operator-numbers.tsx'
import { OverviewCharts } from './overview-charts.tsx'
import { anyRun, NEWS_MS } from './overview-queries.ts'
import { OwnNumbers } from './own-numbers.tsx'
import { RangeNumbers } from './range-numbers.tsx'
import { StatsFilterFields } from './stats-filter-fields.tsx'
import { RANGES, rangeNamed, type StatsFilter } from './stats-range.ts'

const LIVE_KEYS = [
  ['stats'],
  ['runs', 'counted'],
  ['runs', 'any'],
  ['runs', 'waited-for'],
  ['failures'],
  ['queues', 'all'],
]

export default function OverviewScreen() {
  const { search, change } = useAddress()
  const isOperator = useMay('operator')
  const range = rangeNamed(textIn(search, 'range'))
  const filter: StatsFilter = { model: textIn(search, 'model'), queue: textIn(search, 'queue') }
  const { data: hasRuns, isError } = useQuery(anyRun)
  useLive(LIVE_KEYS, { everyMs: NEWS_MS })
  if (hasRuns === undefined && !isError) {
    return (
      <>
        <PageTitle title="Overview" />
        <Loading label="Reading" />
      </>
    )
  }
  if (hasRuns === false) return <FirstUse />
  if (!isOperator) {
    return (
      <>
        <PageTitle title="Overview" note="Your own runs. Charts over everyone’s runs are for operators." />
        <OwnNumbers />
        <AttentionList range={range} filter={{}} />
        <DeadLetters />
      </>
    )
  }
  return (
    <>
      <PageTitle title="Overview">
        <StatsFilterFields filter={filter} onChange={change} />
        <SegmentedControl
          size="xs"
          aria-label="Time range"
          data={RANGES.map(({ name, label }) => ({ value: name, label }))}
          value={range.name}
          onChange={(name) => change({ range: name === '1h' ? undefined : name })}
        />
      </PageTitle>
      <OperatorNumbers range={range} filter={filter} />
      <AttentionList range={range} filter={filter} />
      <RangeNumbers range={range} filter={filter} />
      <OverviewCharts range={range} filter={filter} />
      <DeadLetters />
    </>
  )
}
