/** What needs a person, or that nothing does. */

import { Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { allModels, allQueues, workersIn } from '../../parts/directory-queries.ts'
import { useNowMs } from '../../parts/now.ts'
import { Way } from '../../parts/way.tsx'
import { useMay } from '../../session.tsx'
import { type Attention, attentionOf, unoffered } from './attention.ts'
import classes from './overview.module.css'
import {
  deadDeliveries,
  failureGroups,
  modelsWaitedFor,
  REFRESH_MS,
  runsCounted,
  someWebhooks,
  statsOf,
} from './overview-queries.ts'
import type { Range, StatsFilter } from './stats-range.ts'

const often = { refetchInterval: REFRESH_MS }

export function AttentionList({ range, filter }: { range: Range; filter: StatsFilter }) {
  const { items, isKnown, missing } = useAttention(range, filter)
  return (
    <section aria-labelledby="attention">
      <Title order={2} id="attention" mb={6}>
        Needs attention
      </Title>
      {items.length > 0 && (
        <ul className={classes.attention} aria-labelledby="attention">
          {items.map((item) => (
            <Item key={item.key} item={item} />
          ))}
        </ul>
      )}
      {items.length === 0 && (
        <p className={classes.calm}>{isKnown ? 'All is well: nothing needs attention.' : 'Looking…'}</p>
      )}
      {missing.length > 0 && (
        <Text size="xs" c="dimmed" mt={-10} mb="md">
          Could not be read just now: {missing.join(', ')}.
        </Text>
      )}
    </section>
  )
}

function Item({ item: { tone, what, why, link } }: { item: Attention }) {
  return (
    <li className={classes.item}>
      <span className={classes.sign} data-tone={tone} aria-hidden>
        {tone === 'bad' ? '▲' : '●'}
      </span>
      <span>
        <span className={classes.what}>{what}</span> <span className={classes.why}>{why}</span>
      </span>
      <Way to={link.to} search={link.search} className={classes.way}>
        {link.words}
      </Way>
    </li>
  )
}

function useAttention(range: Range, filter: StatsFilter) {
  const isOperator = useMay('operator')
  const nowMs = useNowMs()
  const queues = useQuery({ ...allQueues, ...often })
  const models = useQuery({ ...allModels, ...often })
  const waitedFor = useQuery(modelsWaitedFor(unoffered(models.data ?? [])))
  const overdue = useQuery(runsCounted({ overdue: true }))
  const approvals = useQuery(runsCounted({ status: 'PENDING', waiting: 'approval' }))
  const failures = useQuery(failureGroups)
  const deliveries = useQuery(deadDeliveries)
  const webhooks = useQuery(someWebhooks)
  const stats = useQuery({ ...statsOf(range, filter), enabled: isOperator })
  const silent = useQuery({ ...workersIn('silent'), ...often, enabled: isOperator })
  const read = { queues, models, 'overdue runs': overdue, approvals, failures, deliveries, webhooks }
  const known = {
    rangeWords: range.words,
    stats: stats.data,
    silentWorkers: silent.data,
    queues: queues.data,
    models: models.data,
    waitingFor: waitedFor.data,
    overdue: overdue.data,
    approvals: approvals.data,
    failures: failures.data,
    deadDeliveries: deliveries.data,
    webhooks: webhooks.data,
  }
  const items = attentionOf(known, nowMs)
  const missing = Object.entries(read).flatMap(([name, { data, isError }]) => (isError && !data ? [name] : []))
  return { items, missing, isKnown: Object.values(read).every(({ isPending }) => !isPending) }
}
