/** The receivers that the person may see, so that deliveries can name them. */

import { useQuery } from '@tanstack/react-query'
import { client } from '../../client.ts'
import { take } from '../../parts/take.ts'

const RECEIVERS_MAX = 500

export type NamedReceiver = { id: string; name: string; channel: 'webhook' | 'mail' }

export function useReceivers(): NamedReceiver[] {
  const { data } = useQuery({
    queryKey: ['receivers', 'names'],
    queryFn: async ({ signal }): Promise<NamedReceiver[]> => {
      const options = { signal, budgetMs: 10_000 }
      const [webhooks, recipients] = await Promise.all([
        take((ended) => client.webhooks.list({ signal: ended }), RECEIVERS_MAX, options),
        take((ended) => client.recipients.list({ signal: ended }), RECEIVERS_MAX, options),
      ])
      return [
        ...webhooks.items.map((one) => ({ id: one.webhook_id, name: one.url, channel: 'webhook' as const })),
        ...recipients.items.map((one) => ({ id: one.recipient_id, name: one.address, channel: 'mail' as const })),
      ]
    },
    staleTime: 30_000,
  })
  return data ?? []
}
