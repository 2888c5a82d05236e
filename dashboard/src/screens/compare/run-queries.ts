/** What is read of each of the two runs. A result never changes, so it is read once; one that is too large is not read at all. */

import type { Run, Step } from '@holdfast/client'
import { useQuery } from '@tanstack/react-query'
import { client } from '../../client.ts'

/** Reading more would hold the page up for longer than one wants to wait. */
export const RESULT_BYTES_MAX = 8 * 1024 * 1024

export function useRun(runId: string | null) {
  return useQuery({
    queryKey: ['run', runId],
    queryFn: ({ signal }) => client.get(runId!, { signal }),
    enabled: runId !== null,
  })
}

export function useSteps(runId: string) {
  return useQuery({
    queryKey: ['run', runId, 'steps to compare'],
    queryFn: async ({ signal }) => {
      const steps: Step[] = []
      for await (const step of client.steps(runId, { signal })) steps.push(step)
      return steps
    },
  })
}

export type ReadResult = { value: unknown; tooLargeBytes: null } | { value: null; tooLargeBytes: number }

export function useResult({ run_id: runId, result_hash: hash }: Run, isWanted: boolean) {
  return useQuery<ReadResult>({
    queryKey: ['run-result', runId, hash],
    queryFn: async ({ signal }) => {
      const bytes = await client.resultBytes(runId, { signal })
      if (bytes !== null && bytes > RESULT_BYTES_MAX) return { value: null, tooLargeBytes: bytes }
      return { value: await client.result(runId, { signal }), tooLargeBytes: null }
    },
    enabled: isWanted && hash !== null,
    staleTime: Number.POSITIVE_INFINITY,
    // Comparing megabytes with themselves would only take time.
    structuralSharing: false,
  })
}
