import { expect, it } from 'vitest'
import type { DeliveryBacklog } from './delivery-metrics.ts'
import { createMetrics } from './metrics.ts'

const create = () => createMetrics({ processMetrics: false })
const BACKLOG: DeliveryBacklog = {
  unspread: 3,
  oldestUnspreadSeconds: 1.5,
  byChannel: [{ channel: 'mail', waiting: 7, oldestDueSeconds: 60 }],
}

it('sends are counted by channel and outcome, from zero on', async () => {
  const metrics = create()
  metrics.deliveryAttempts.inc('webhook', 'again')
  metrics.deliveryAttempts.inc('webhook', 'delivered', 4)
  metrics.deliveryDuration.observe('webhook', 0.3)
  const text = await metrics.text()
  expect(text).toContain('delivery_attempts_total{channel="webhook",outcome="delivered"} 4')
  expect(text).toContain('delivery_attempts_total{channel="webhook",outcome="again"} 1')
  expect(text).toContain('delivery_attempts_total{channel="mail",outcome="dead"} 0')
  expect(text).toContain('delivery_duration_seconds_bucket{le="0.5",channel="webhook"} 1')
})

it('one scrape reads the backlog once, and a channel where nothing waits is zero', async () => {
  const metrics = create()
  let reads = 0
  metrics.onDeliveryBacklog(async () => {
    reads += 1
    return BACKLOG
  })
  const text = await metrics.text()
  expect(text).toMatch(/^outbox_unspread 3$/m)
  expect(text).toMatch(/^outbox_oldest_seconds 1.5$/m)
  expect(text).toContain('deliveries_waiting{channel="mail"} 7')
  expect(text).toContain('deliveries_waiting{channel="webhook"} 0')
  expect(text).toContain('delivery_backlog_age_seconds{channel="mail"} 60')
  expect(reads).toBe(1)
})

it('nothing is told of a backlog that nobody reads, and a read that fails leaves what was told', async () => {
  const metrics = create()
  expect(await metrics.text()).not.toContain('outbox_unspread')
  let answer = Promise.resolve(BACKLOG)
  metrics.onDeliveryBacklog(() => answer)
  await metrics.text()
  answer = Promise.reject(new Error('no database'))
  expect(await metrics.text()).toMatch(/^outbox_unspread 3$/m)
})

it('several processes that read the same backlog tell it once', async () => {
  const [one, other] = [create(), create()]
  for (const metrics of [one, other]) metrics.onDeliveryBacklog(async () => BACKLOG)
  expect(await one.text([await other.export()])).toMatch(/^outbox_unspread 3$/m)
})
