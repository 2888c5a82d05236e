/**
 * A list of the API that grows on demand: the first so many, more when asked for, all of them read again together, so that nothing is
 * missing or twice when something new came in between.
 */

import type { QueryKey } from '@tanstack/react-query'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { take } from './take.ts'

const STEP = 50
/** What is looked for beyond that is found by narrowing the list. */
const SHOWN_MAX = 500
const BUDGET_MS = 5_000

export type More<Item> = {
  /** Undefined until the first answer. */
  items: Item[] | undefined
  hasMore: boolean
  isCut: boolean
  isAtMax: boolean
  /** What is shown belongs to the list of before; the new one is on its way. */
  isOld: boolean
  isFetching: boolean
  error: Error | null
  showMore(): void
  refetch(): void
}

/** `everyMs`: how often it is read again while the page is looked at; not by itself when not given. */
export function useMore<Item>(
  queryKey: QueryKey,
  list: (signal: AbortSignal) => AsyncIterable<Item>,
  { everyMs }: { everyMs?: number } = {},
): More<Item> {
  const name = JSON.stringify(queryKey)
  const [asked, setAsked] = useState({ name, steps: 1 })
  const steps = asked.name === name ? asked.steps : 1
  const count = Math.min(steps * STEP, SHOWN_MAX)
  const { data, error, isFetching, isPlaceholderData, refetch } = useQuery({
    queryKey: [...queryKey, { count, steps }],
    queryFn: ({ signal }) => take(list, count, { signal, budgetMs: BUDGET_MS * steps }),
    placeholderData: keepPreviousData,
    refetchInterval: everyMs ?? false,
  })
  return {
    items: data?.items,
    hasMore: data?.hasMore ?? false,
    isCut: data?.isCut ?? false,
    isAtMax: count === SHOWN_MAX,
    isOld: isPlaceholderData,
    isFetching,
    error,
    showMore: () => setAsked({ name, steps: steps + 1 }),
    refetch: () => void refetch(),
  }
}
