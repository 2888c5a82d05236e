/** What the screen reads about a run. Events say when to read again; progress and reasons to wait are no events and are asked for. */

import type { Artifact, Place, Run, RunEvent, RunRetry, Step } from '@holdfast/client'
import { type QueryKey, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query'
import { client } from '../../client.ts'
import { about, useLive } from '../../live/use-live.ts'

const ASK_AGAIN_MS = 1_500
const RETRIES_MS = 5_000
/** What happened within so short a time is read at once. */
const LIVE_MS = 300

export function useRun(runId: string): UseQueryResult<Run> {
  useLive([['run', runId]], { concerns: about(runId), everyMs: LIVE_MS })
  return useQuery({
    queryKey: ['run', runId],
    queryFn: ({ signal }) => client.get(runId, { signal }),
    // A cost is settled up to a second after the end.
    refetchInterval: ({ state: { data } }) =>
      data && (isActive(data) || data.cost?.state === 'HELD') ? ASK_AGAIN_MS : false,
  })
}

export function isActive({ finished_at }: Run): boolean {
  return finished_at === null
}

export function useSteps(run: Run): UseQueryResult<Step[]> {
  return useQuery({
    queryKey: ['run', run.run_id, 'steps'],
    queryFn: ({ signal }) => all(client.steps(run.run_id, { signal })),
    refetchInterval: run.status === 'RUNNING' ? ASK_AGAIN_MS : false,
  })
}

/** All of them; only those that are new are fetched. */
export function useEvents(runId: string): UseQueryResult<RunEvent[]> {
  const queries = useQueryClient()
  const queryKey: QueryKey = ['run', runId, 'events']
  return useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const known = queries.getQueryData<RunEvent[]>(queryKey) ?? []
      const more = await all(client.events(runId, { after: known.at(-1)?.seq ?? 0, signal }))
      return more.length === 0 ? known : [...known, ...more]
    },
  })
}

export function useArtifacts(runId: string): UseQueryResult<Artifact[]> {
  return useQuery({
    queryKey: ['run', runId, 'artifacts'],
    queryFn: ({ signal }) => all(client.artifacts(runId, { signal })),
  })
}

/** Somebody may retry it at any time, which is no event of this run. */
export function useRetries(run: Run): UseQueryResult<RunRetry[]> {
  return useQuery({
    queryKey: ['run', run.run_id, 'retries'],
    queryFn: ({ signal }) => client.retries(run.run_id, { signal }),
    enabled: !isActive(run),
    refetchInterval: RETRIES_MS,
  })
}

export function usePlaces(run: Run): UseQueryResult<Place[]> {
  return useQuery({
    queryKey: ['run-places', run.run_id],
    queryFn: ({ signal }) => client.places(run.run_id, { signal }),
    enabled: run.status === 'SUCCEEDED',
  })
}

/** Results never change; null when nobody says how large it is. One inside the run is small. */
export function useResultBytes(run: Run): UseQueryResult<number | null> {
  return useQuery({
    queryKey: ['run-result-bytes', run.run_id],
    queryFn: ({ signal }) => client.resultBytes(run.run_id, { signal }),
    enabled: run.status === 'SUCCEEDED' && run.result_ref !== 'inline',
    staleTime: Number.POSITIVE_INFINITY,
  })
}

export function useResult(runId: string, enabled: boolean): UseQueryResult<unknown> {
  return useQuery({
    queryKey: ['run-result', runId],
    queryFn: async ({ signal }) => ({ value: await client.result(runId, { signal }) }),
    select: ({ value }) => value,
    enabled,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    // It is never read twice, and comparing megabytes would take long.
    structuralSharing: false,
  })
}

async function all<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of list) items.push(item)
  return items
}
