/** What the overview reads. Each part stands alone: one that is refused or fails leaves the others as they are. */

import type { RunFilter } from '@holdfast/client'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { client } from '../../client.ts'
import { take } from '../../parts/take.ts'
import type { Counted } from './attention.ts'
import { type Range, type StatsFilter, statsQuery } from './stats-range.ts'

export const REFRESH_MS = 15_000
/** News from the feed is taken up at most that often. */
export const NEWS_MS = 5_000

/** Beyond it the exact number changes nothing. */
const COUNT_MAX = 100
const GROUPS_MAX = 200
const BUDGET_MS = 4_000

const often = { refetchInterval: REFRESH_MS, placeholderData: keepPreviousData } as const

export const statsOf = (range: Range, filter: StatsFilter) =>
  queryOptions({
    queryKey: ['stats', range.name, filter],
    queryFn: ({ signal }) => client.stats(statsQuery(range, filter, Date.now()), { signal }),
    ...often,
  })

export const runsCounted = (filter: RunFilter) =>
  queryOptions({
    queryKey: ['runs', 'counted', filter],
    queryFn: ({ signal }) => counted((within) => client.list(filter, { signal: within }), signal),
    ...often,
  })

/** Whether there has ever been a run that this person may see. */
export const anyRun = queryOptions({
  queryKey: ['runs', 'any'],
  queryFn: async ({ signal }) => (await client.listPage({}, { limit: 1, signal })).data.length > 0,
  ...often,
})

/** Names of models, among these, that runs wait for. */
export const modelsWaitedFor = (models: string[]) =>
  queryOptions({
    queryKey: ['runs', 'waited-for', models],
    queryFn: async ({ signal }) => {
      // No filter takes more names than that.
      const filter: RunFilter = { status: 'PENDING', model: models.slice(0, 20) }
      const { data } = await client.listPage(filter, { limit: 200, signal })
      return [...new Set(data.map(({ model }) => model))].sort()
    },
    enabled: models.length > 0,
    ...often,
  })

export const failureGroups = queryOptions({
  queryKey: ['failures'],
  queryFn: async ({ signal }) => {
    const budget = { signal, budgetMs: BUDGET_MS }
    const { items } = await take((within) => client.failures({ signal: within }), GROUPS_MAX, budget)
    return items.sort((a, b) => Date.parse(b.newest_at) - Date.parse(a.newest_at))
  },
  ...often,
})

export const deadDeliveries = queryOptions({
  queryKey: ['deliveries', 'dead-counted'],
  queryFn: ({ signal }) => counted((within) => client.deliveries.list({ state: 'DEAD' }, { signal: within }), signal),
  ...often,
})

export const someWebhooks = queryOptions({
  queryKey: ['webhooks', 'first'],
  queryFn: async ({ signal }) => {
    const budget = { signal, budgetMs: BUDGET_MS }
    return (await take((within) => client.webhooks.list({ signal: within }), GROUPS_MAX, budget)).items
  },
  ...often,
})

export const runOf = (runId: string | undefined) =>
  queryOptions({
    queryKey: ['run', runId, 'why'],
    queryFn: ({ signal }) => client.get(runId!, { signal }),
    enabled: runId !== undefined,
  })

async function counted<Item>(
  list: (signal: AbortSignal) => AsyncIterable<Item>,
  signal: AbortSignal,
): Promise<Counted> {
  const { items, hasMore } = await take(list, COUNT_MAX, { signal, budgetMs: BUDGET_MS })
  return { count: items.length, isCapped: hasMore }
}
