/**
 * What is counted of deliveries. Never by receiver or owner: nobody knows how many there are. The backlog is read from the database at each
 * scrape, by every process that can, so that it is seen when no relay runs at all; take the maximum over processes.
 */

import { Counter, Gauge, Histogram, type Registry } from '@prometheus-io/client'

export const DELIVERY_OUTCOMES = ['delivered', 'again', 'dead', 'dropped', 'late'] as const
/** `late`: the lease was lost before it could be settled, so that it is sent again under the same id. */
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number]

const CHANNELS = ['webhook', 'mail', 'stream'] as const
type Channel = (typeof CHANNELS)[number]

export type DeliveryBacklog = {
  unspread: number
  oldestUnspreadSeconds: number
  byChannel: { channel: Channel; waiting: number; oldestDueSeconds: number }[]
}

export type DeliveryMetrics = {
  deliveryAttempts: { inc(channel: Channel, outcome: DeliveryOutcome, n?: number): void }
  deliveryDuration: { observe(channel: Channel, seconds: number): void }
  factsSpread: { inc(n?: number): void }
  /** Asked at each scrape. */
  onDeliveriesInFlight(read: () => number): void
  /** Asked at each scrape, and not told without it; a rejection tells what was told before. */
  onDeliveryBacklog(read: () => Promise<DeliveryBacklog>): void
}

const DURATION_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30]

export function createDeliveryMetrics(registers: Registry[]): DeliveryMetrics {
  const attempts = new Counter({
    name: 'delivery_attempts_total',
    help: 'Sends of deliveries, by how they ended.',
    labelNames: ['channel', 'outcome'],
    registers,
  })
  for (const channel of CHANNELS) for (const outcome of DELIVERY_OUTCOMES) attempts.labels(channel, outcome).inc(0)
  const duration = new Histogram({
    name: 'delivery_duration_seconds',
    help: 'Time one send took.',
    labelNames: ['channel'],
    buckets: DURATION_BUCKETS,
    registers,
  })
  return {
    deliveryAttempts: { inc: (channel, outcome, n) => attempts.labels(channel, outcome).inc(n) },
    deliveryDuration: { observe: (channel, seconds) => duration.labels(channel).observe(seconds) },
    factsSpread: new Counter({
      name: 'outbox_facts_spread_total',
      help: 'Facts turned into deliveries, also when nobody wanted one any more.',
      registers,
    }),
    onDeliveriesInFlight: deliveriesInFlight(registers),
    onDeliveryBacklog: deliveryBacklog(registers),
  }
}

function deliveriesInFlight(registers: Registry[]): DeliveryMetrics['onDeliveriesInFlight'] {
  let read = () => 0
  new Gauge({
    name: 'deliveries_in_flight',
    help: 'Deliveries this process is sending now.',
    registers,
    collect() {
      this.set(read())
    },
  })
  return (next) => {
    read = next
  }
}

/** There are no such lines before someone can read them: none is not the same as unknown. */
function deliveryBacklog(registers: Registry[]): DeliveryMetrics['onDeliveryBacklog'] {
  let read: (() => Promise<DeliveryBacklog>) | null = null
  let reading: Promise<DeliveryBacklog | null> | null = null

  /** The gauges of one scrape are asked at once, and share what the database answers. */
  function shared(): Promise<DeliveryBacklog | null> {
    reading ??= Promise.resolve()
      .then(() => read!())
      .catch(() => null)
      .finally(() => {
        reading = null
      })
    return reading
  }

  function whole(name: string, help: string, pick: (backlog: DeliveryBacklog) => number): void {
    new Gauge({
      name,
      help,
      registers,
      aggregator: 'max',
      async collect() {
        const backlog = await shared()
        if (backlog) this.set(pick(backlog))
      },
    })
  }

  function byChannel(name: string, help: string, value: 'waiting' | 'oldestDueSeconds'): void {
    new Gauge({
      name,
      help,
      labelNames: ['channel'],
      registers,
      aggregator: 'max',
      async collect() {
        const backlog = await shared()
        if (!backlog) return
        for (const channel of CHANNELS) {
          this.set({ channel }, backlog.byChannel.find((one) => one.channel === channel)?.[value] ?? 0)
        }
      },
    })
  }

  function register(): void {
    whole('outbox_unspread', 'Facts not yet spread into deliveries, counted up to a bound.', (found) => found.unspread)
    whole(
      'outbox_oldest_seconds',
      'Age of the oldest fact that is not yet spread.',
      (found) => found.oldestUnspreadSeconds,
    )
    byChannel('deliveries_waiting', 'Deliveries that wait to be sent, counted up to a bound.', 'waiting')
    byChannel('delivery_backlog_age_seconds', 'How long the oldest delivery has been due.', 'oldestDueSeconds')
  }

  return (next) => {
    if (read === null) register()
    read = next
  }
}
