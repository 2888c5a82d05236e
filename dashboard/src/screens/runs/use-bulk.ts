/** Where a bulk operation is, asked for every second until it has ended. */

import { HoldfastError } from '@holdfast/client'
import { useQuery } from '@tanstack/react-query'
import { client } from '../../client.ts'

const LOOK_MS = 1_000

export function useBulk(operationId: string) {
  return useQuery({
    queryKey: ['bulk', operationId],
    queryFn: ({ signal }) => client.bulk.get(operationId, { signal }),
    refetchInterval: ({ state: { data, error } }) => {
      if (error instanceof HoldfastError && error.status === 404) return false
      return data && data.state !== 'RUNNING' ? false : LOOK_MS
    },
  })
}
