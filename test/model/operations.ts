/**
 * The random operations of a sequence, as plain records. They name workers, runs and leases by number; the sequence
 * resolves a number against what exists when it gets there, so every record is possible at every place and shrinking
 * stays simple: operations that do not matter shrink to a clock tick of a millisecond.
 */

import fc from 'fast-check'
import type { SettleKind } from '../../src/store/store.ts'
import { WORKERS } from './workers.ts'

export const LEASE_MS = 60_000
export const QUEUES = ['north', 'south']
export const MODELS = [
  { model: 'tide', version: '1' },
  { model: 'tide', version: '2' },
  { model: 'wind', version: '1' },
]

export type SubmitShape = {
  model: number
  queue: number
  priority: number
  payload: number
  key: number | null
  keyTtlSeconds: number
  dedupe: 'active' | 'succeeded' | 'off'
  /** Of two runs that are not there: a retry is known by the name it takes. */
  retryOf: number | null
  delayMs: number
  maxAttempts: number
  timeoutSeconds: number
  executor: string
}

export type ClaimShape = {
  slots: number
  /** Numbers of the queues and models the worker serves. */
  queues: number[]
  models: number[]
  /** Only queues or only models are limited: with both a claim may leave a slot free, which the next one fills. */
  room: { of: 'queue' | 'model'; room: number } | null
}

export type Operation =
  | { op: 'clock'; ms: number }
  | { op: 'submit'; run: SubmitShape; sentTwice: boolean }
  | { op: 'submitTwo'; runs: [SubmitShape, SubmitShape] }
  | { op: 'claim'; worker: number; claim: ClaimShape }
  | { op: 'beat'; worker: number; of: 'held' | 'held and old' | 'old'; old: number }
  | { op: 'settle'; worker: number; lease: number; kind: SettleKind }
  | { op: 'settleAll'; worker: number; kind: SettleKind; alsoOld: number }
  | { op: 'settleAgain'; settlement: number }
  | { op: 'zombie'; lease: number; kind: SettleKind }
  | { op: 'impostor'; lease: number; kind: SettleKind }
  | { op: 'progress'; lease: number }
  | { op: 'handOver'; lease: number; of: 'held' | 'all'; ticket: 'new' | 'same' }
  | { op: 'alive'; lease: number }
  | { op: 'ticket'; ticket: number; token: 'own' | 'other' }
  | { op: 'say'; token: number }
  /** A while later, so that leases have ended. */
  | { op: 'adopt'; worker: number; limit: number; laterMs: number }
  | { op: 'letGo'; lease: number }
  | { op: 'reclaim'; limit: number }
  | { op: 'confirmCancels'; afterMs: number; limit: number }
  | { op: 'cancel'; run: number; of: 'running' | 'all' | 'none' }
  | { op: 'crash'; worker: number }
  | { op: 'freeze'; worker: number }
  | { op: 'thaw'; worker: number }
  | { op: 'pause'; queue: number; paused: boolean }
  | { op: 'cleanKeys' }

export type OperationName = Operation['op']

const worker = fc.nat({ max: WORKERS.length - 1 })
const queue = fc.nat({ max: QUEUES.length - 1 })
const pick = fc.nat({ max: 999 })
const kind = fc.constantFrom<SettleKind[]>('succeed', 'retry', 'retry', 'fail', 'release', 'cancel', 'lost')

const run: fc.Arbitrary<SubmitShape> = fc.record({
  model: fc.constantFrom(0, 0, 0, 1, 2),
  queue: fc.constantFrom(0, 0, 1),
  priority: fc.constantFrom(0, 0, 0, 0, 7, -100),
  payload: fc.nat({ max: 1 }),
  key: fc.option(fc.nat({ max: 4 }), { freq: 2 }),
  keyTtlSeconds: fc.constantFrom(86_400, 30),
  dedupe: fc.constantFrom('active', 'off', 'off', 'succeeded'),
  retryOf: fc.constantFrom(null, null, null, null, null, 0, 1),
  delayMs: fc.constantFrom(0, 0, 0, 20_000, -1_000),
  maxAttempts: fc.integer({ min: 1, max: 3 }),
  timeoutSeconds: fc.constantFrom(86_400, 86_400, 70, 20),
  executor: fc.constantFrom('process', 'inline', 'ray'),
})

const someQueues: fc.Arbitrary<number[]> = fc.constantFrom<number[][]>([0, 1], [0, 1], [0], [1])
const someModels: fc.Arbitrary<number[]> = fc.constantFrom<number[][]>([0, 1, 2], [0, 1, 2], [0, 2], [1])
const room: fc.Arbitrary<ClaimShape['room']> = fc.constantFrom<ClaimShape['room'][]>(
  null,
  null,
  { of: 'queue', room: 1 },
  { of: 'model', room: 1 },
  { of: 'model', room: 0 },
)
const slots = fc.constantFrom(1, 2, 3, 10, 0)
const claim: fc.Arbitrary<ClaimShape> = fc.record({ slots, queues: someQueues, models: someModels, room })

/** From a tick over a third of a lease, a lease and just after it, to an hour; and a step back. */
const clockMs = fc.constantFrom(1, 700, LEASE_MS / 3, LEASE_MS / 3, LEASE_MS, LEASE_MS + 1, 3_600_000, -2_000)

const beatOf = fc.constantFrom('held', 'held and old', 'old')
const cancelMs = fc.constantFrom(60_000, LEASE_MS / 3, 0)

const weighed = (weight: number, arbitrary: fc.Arbitrary<Operation>) => ({ weight, arbitrary })
const named = <Name extends OperationName>(op: Name) => fc.constant(op)

export const operation: fc.Arbitrary<Operation> = fc.oneof(
  { withCrossShrink: true },
  weighed(14, fc.record({ op: named('clock'), ms: clockMs })),
  weighed(14, fc.record({ op: named('submit'), run, sentTwice: fc.boolean() })),
  weighed(3, fc.record({ op: named('submitTwo'), runs: fc.tuple(run, run) })),
  weighed(14, fc.record({ op: named('claim'), worker, claim })),
  weighed(7, fc.record({ op: named('beat'), worker, of: beatOf, old: pick })),
  weighed(14, fc.record({ op: named('settle'), worker, lease: pick, kind })),
  weighed(5, fc.record({ op: named('settleAll'), worker, kind, alsoOld: pick })),
  weighed(3, fc.record({ op: named('settleAgain'), settlement: pick })),
  weighed(8, fc.record({ op: named('zombie'), lease: pick, kind })),
  weighed(2, fc.record({ op: named('impostor'), lease: pick, kind })),
  weighed(3, fc.record({ op: named('progress'), lease: pick })),
  weighed(
    7,
    fc.record({
      op: named('handOver'),
      lease: pick,
      of: fc.constantFrom('held', 'held', 'held', 'all'),
      ticket: fc.constantFrom('new', 'new', 'same'),
    }),
  ),
  weighed(3, fc.record({ op: named('alive'), lease: pick })),
  weighed(6, fc.record({ op: named('ticket'), ticket: pick, token: fc.constantFrom('own', 'own', 'other') })),
  weighed(5, fc.record({ op: named('say'), token: pick })),
  weighed(
    11,
    fc.record({
      op: named('adopt'),
      worker,
      limit: fc.constantFrom(100, 100, 1),
      laterMs: fc.constantFrom(0, LEASE_MS + 1),
    }),
  ),
  weighed(2, fc.record({ op: named('letGo'), lease: pick })),
  weighed(8, fc.record({ op: named('reclaim'), limit: fc.constantFrom(100, 100, 1) })),
  weighed(9, fc.record({ op: named('confirmCancels'), afterMs: cancelMs, limit: fc.constantFrom(100, 1) })),
  weighed(
    7,
    fc.record({ op: named('cancel'), run: pick, of: fc.constantFrom('running', 'running', 'all', 'all', 'none') }),
  ),
  weighed(2, fc.record({ op: named('crash'), worker })),
  weighed(4, fc.record({ op: named('freeze'), worker })),
  weighed(6, fc.record({ op: named('thaw'), worker })),
  weighed(2, fc.record({ op: named('pause'), queue, paused: fc.boolean() })),
  weighed(2, fc.record({ op: named('cleanKeys') })),
)
