import type { FailureGroup, ModelInfo, Queue, Stats, Webhook, Worker } from '@holdfast/client'
import { describe, expect, test } from 'vitest'
import { attentionOf, type Known, unoffered } from './attention.ts'

const NOW = Date.parse('2030-01-08T12:00:00Z')
const QUEUE: Queue = {
  queue: 'default',
  paused: false,
  pending: 0,
  pending_capped: false,
  running: 0,
  running_capped: false,
  oldest_waiting_seconds: null,
  live_workers: 1,
  fair_share: false,
  weights: {},
  slots: 8,
  limit: null,
  updated_at: '2030-01-01T00:00:00Z',
}
const model = (name: string, offered: boolean[], queue = 'default') =>
  ({ name, queue, versions: offered.map((is, index) => ({ version: `${index}`, offered: is })) }) as ModelInfo
const found = (known: Partial<Known>) => attentionOf({ rangeWords: 'last hour', ...known }, NOW)
const words = (known: Partial<Known>) => found(known).map(({ what }) => what)

test('nothing known and nothing wrong need nobody', () => {
  expect(found({})).toEqual([])
  expect(found({ queues: [QUEUE], overdue: { count: 0, isCapped: false }, silentWorkers: [], failures: [] })).toEqual(
    [],
  )
})

describe('queues', () => {
  test('a paused one is told of, with what waits in it', () => {
    const [item] = found({ queues: [{ ...QUEUE, paused: true, pending: 1_000, pending_capped: true }] })
    expect(item).toMatchObject({
      what: 'Queue default is paused',
      link: { to: '/queues', search: { queue: 'default' } },
    })
    expect(item!.why).toContain('1,000+ waiting')
  })

  test('one that nobody serves only while runs wait or run in it', () => {
    const alone = { ...QUEUE, live_workers: 0 }
    expect(words({ queues: [alone] })).toEqual([])
    const waiting = { ...alone, pending: 3, oldest_waiting_seconds: 90 }
    expect(words({ queues: [waiting] })).toEqual(['No live worker serves queue default'])
    expect(found({ queues: [waiting] })[0]!.why).toContain('the oldest for 1 min 30 s')
    expect(words({ queues: [{ ...alone, running: 2 }] })).toEqual(['Runs in queue default are stuck'])
    expect(words({ queues: [{ ...waiting, paused: true }] })).toEqual(['Queue default is paused'])
  })
})

describe('models', () => {
  test('unoffered is one that no worker has in any version', () => {
    expect(unoffered([model('a', [false, true]), model('b', [false, false])])).toEqual(['b'])
  })

  test('it is told of where the queue is served, and not twice where it is not', () => {
    const models = [model('b', [false])]
    const [item] = found({ models, waitingFor: ['b'], queues: [QUEUE] })
    expect(item).toMatchObject({
      what: 'No live worker offers model b',
      link: { search: { status: 'PENDING', model: 'b' } },
    })
    expect(words({ models, waitingFor: ['b'], queues: [{ ...QUEUE, live_workers: 0, pending: 1 }] })).toEqual([
      'No live worker serves queue default',
    ])
  })
})

test('runs: overdue, taken back, waiting for approval', () => {
  const stats = { total: { reclaimed: 2 } } as Stats
  const items = found({ stats, overdue: { count: 1, isCapped: false }, approvals: { count: 100, isCapped: true } })
  expect(items.map(({ what }) => what)).toEqual([
    '1 run is overdue',
    '2 leases expired',
    '100+ runs are waiting for approval',
  ])
  expect(items.map(({ link }) => link.search)).toEqual([
    { overdue: 'true' },
    { error_class: 'WorkerLost' },
    { status: 'PENDING', waiting: 'approval' },
  ])
})

test('dead letters are news for a day', () => {
  const group = (newest: string) => ({ newest_at: newest }) as FailureGroup
  expect(words({ failures: [group('2030-01-01T00:00:00Z')] })).toEqual([])
  expect(words({ failures: [group('2030-01-01T00:00:00Z'), group('2030-01-08T11:00:00Z')] })).toEqual([
    'Runs of the last day failed for good',
  ])
})

test('what people are not told: dead deliveries and disabled webhooks', () => {
  const webhook = (enabled: boolean, url: string) =>
    ({ webhook_id: url, url, enabled, disabled_reason: enabled ? null : 'It failed for three days.' }) as Webhook
  const webhooks = [webhook(true, 'https://a.example/x'), webhook(false, 'https://b.example/secret-path')]
  const items = found({ deadDeliveries: { count: 1, isCapped: false }, webhooks })
  expect(items.map(({ what }) => what)).toEqual(['1 delivery is dead', 'The webhook to b.example is disabled'])
  expect(items[1]!.why).toBe('It failed for three days.')
})

test('the worst comes first', () => {
  const tones = found({
    queues: [{ ...QUEUE, paused: true }],
    silentWorkers: [{} as Worker],
    overdue: { count: 2, isCapped: false },
  }).map(({ tone }) => tone)
  expect(tones).toEqual(['bad', 'waiting', 'waiting'])
})
