/** The heartbeat thread on a real database: what it renews, what it learns, and what it does when nobody answers. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest'
import { type FaultProxy, startProxy } from '../../test/support/proxy.ts'
import { openTestStore, type TestStore, WORKER } from '../../test/support/store.ts'
import { until } from '../../test/support/until.ts'
import type { Lease } from '../store/store.ts'
import { Heartbeat, type HeartbeatOptions, type HeldLease, monotonicMs } from './heartbeat.ts'

const THREAD = new URL('../store/heartbeat-thread.ts', import.meta.url)
const LEASE_MS = 2_000

// The tests only wait, each for its own lease, so they wait together.
const it = test.concurrent

let store: TestStore

beforeAll(async () => {
  store = await openTestStore('18')
})
afterAll(() => store.close())

async function startHeartbeat(onTestFinished: TestContext['onTestFinished'], changes: Partial<HeartbeatOptions> = {}) {
  const { hostname, port } = new URL(store.database.url)
  const proxy: FaultProxy = await startProxy({ host: hostname, port: Number(port) })
  const heard = {
    lost: [] as HeldLease[],
    cancels: [] as HeldLease[],
    renewals: 0,
    failures: [] as string[],
    lostAtMs: 0,
  }
  const heartbeat = new Heartbeat({
    thread: { url: THREAD, data: { url: proxy.through(store.database.url) } },
    workerId: WORKER,
    leaseMs: LEASE_MS,
    deadlineGraceMs: 60_000,
    loopSilenceMs: 300_000,
    onLost: (leases) => {
      heard.lost.push(...leases)
      heard.lostAtMs = monotonicMs()
    },
    onCancelRequested: (leases) => void heard.cancels.push(...leases),
    onRenewed: () => {
      heard.renewals += 1
    },
    onFailure: (message) => void heard.failures.push(message),
    ...changes,
  })
  onTestFinished(async () => {
    await heartbeat.stop()
    await proxy.close()
  })
  await heartbeat.ready
  return { heartbeat, heard, proxy }
}

/** A run of its own, leased to the worker and known to the heartbeat. */
async function held(heartbeat: Heartbeat, leaseMs = LEASE_MS) {
  const takenAtMs = monotonicMs()
  const lease = await store.running({}, WORKER, leaseMs)
  const claim = heartbeat.add(takenAtMs, [lease])
  return { lease, claim }
}

async function expiryOf({ runId }: Lease): Promise<number> {
  return (await store.store.readRun(runId))!.run.leaseExpiresAt!.getTime()
}

it('a lease is renewed for as long as it is held, and no longer', async ({ onTestFinished }) => {
  const { heartbeat, heard } = await startHeartbeat(onTestFinished)
  const { lease, claim } = await held(heartbeat)
  const first = await expiryOf(lease)
  await until(async () => (await expiryOf(lease)) > first + LEASE_MS / 2, { what: 'the lease was renewed twice' })
  heartbeat.end(claim, [lease])
  const renewals = heard.renewals
  await until(() => heard.renewals > renewals + 1, { what: 'further beats were sent' })
  const last = await expiryOf(lease)
  await until(() => heard.renewals > renewals + 2, { what: 'further beats were sent' })
  expect(await expiryOf(lease)).toBe(last)
  expect(heard.lost).toEqual([])
})

it('a lease that ended is not renewed with the others of its claim', async ({ onTestFinished }) => {
  const { heartbeat, heard } = await startHeartbeat(onTestFinished)
  const takenAtMs = monotonicMs()
  const [ended, going] = [await store.running({}, WORKER, LEASE_MS), await store.running({}, WORKER, LEASE_MS)]
  const claim = heartbeat.add(takenAtMs, [ended, going])
  heartbeat.end(claim, [ended])
  const { renewals } = heard
  // At three beats in a lease, the ends of a claim are told by then.
  await until(() => heard.renewals > renewals + 3, { what: 'beats were sent' })
  const last = await expiryOf(ended)
  const goingLast = await expiryOf(going)
  await until(() => heard.renewals > renewals + 5, { what: 'further beats were sent' })
  expect(await expiryOf(ended)).toBe(last)
  expect(await expiryOf(going)).toBeGreaterThan(goingLast)
})

it('a claim too large for the shared memory is renewed all the same', async ({ onTestFinished }) => {
  const { heartbeat } = await startHeartbeat(onTestFinished)
  const takenAtMs = monotonicMs()
  const lease = await store.running({}, WORKER, LEASE_MS)
  const gone = Array.from({ length: 2_000 }, () => ({ runId: randomUUID(), epoch: 1 }))
  heartbeat.add(takenAtMs, [...gone, lease])
  const first = await expiryOf(lease)
  await until(async () => (await expiryOf(lease)) > first + LEASE_MS / 2, { what: 'the lease was renewed twice' })
})

it('a lease that another has taken is reported lost once, by its epoch', async ({ onTestFinished }) => {
  const { heartbeat, heard } = await startHeartbeat(onTestFinished)
  const { lease } = await held(heartbeat)
  await store.database.query(
    `UPDATE model_runs SET lease_owner = 'worker-2', lease_epoch = lease_epoch + 1 WHERE id = $1`,
    [lease.runId],
  )
  await until(() => heard.lost.length > 0, { what: 'the loss is reported' })
  const { renewals } = heard
  await until(() => heard.renewals > renewals + 1, { what: 'further beats were sent' })
  expect(heard.lost).toEqual([{ runId: lease.runId, epoch: lease.epoch }])
})

it('a requested cancel is learnt at the next beat, and at once when asked to look', async ({ onTestFinished }) => {
  const { heartbeat, heard } = await startHeartbeat(onTestFinished, { leaseMs: 600_000 })
  const { lease } = await held(heartbeat, 600_000)
  await store.store.cancel(lease.runId)
  heartbeat.beatNow()
  await until(() => heard.cancels.length > 0, { what: 'the cancel is learnt' })
  expect(heard.cancels[0]).toEqual({ runId: lease.runId, epoch: lease.epoch })
})

it('a broken connection is replaced before the lease is in danger', async ({ onTestFinished }) => {
  const { heartbeat, heard, proxy } = await startHeartbeat(onTestFinished)
  const { lease } = await held(heartbeat)
  await until(() => heard.renewals > 0, { what: 'it is connected' })
  proxy.cut()
  await until(() => heard.failures.length > 0, { what: 'the loss was noticed' })
  const renewals = heard.renewals
  await until(() => heard.renewals > renewals, { what: 'it beats again' })
  expect(heard.lost).toEqual([])
  expect((await store.store.readRun(lease.runId))!.run.leaseOwner).toBe(WORKER)
})

it('when nobody answers any more, the work is told to stop before its lease ends', async ({ onTestFinished }) => {
  const { heartbeat, heard, proxy } = await startHeartbeat(onTestFinished)
  const { lease } = await held(heartbeat)
  await until(() => heard.renewals > 1, { what: 'it is connected' })
  proxy.halfOpen()
  // Read past the proxy. The lease cannot be renewed any more, so this is its end.
  const leftMs = await leaseLeftMs(lease)
  const endsAtMs = monotonicMs() + leftMs
  await until(() => heard.lost.length > 0, { what: 'the loss is reported' })
  expect(heard.lost).toEqual([{ runId: lease.runId, epoch: lease.epoch }])
  expect(heard.lostAtMs).toBeLessThan(endsAtMs)
})

it('after an outage it renews new leases again', async ({ onTestFinished }) => {
  const { heartbeat, heard, proxy } = await startHeartbeat(onTestFinished)
  await until(() => heard.renewals > 0, { what: 'it is connected' })
  proxy.halfOpen()
  await until(() => heard.failures.length > 0, { what: 'the outage was noticed' })
  proxy.resume()
  const { lease } = await held(heartbeat)
  const first = await expiryOf(lease)
  await until(async () => (await expiryOf(lease)) > first, { what: 'the lease was renewed' })
})

it('a lease is not extended past the deadline of the attempt and its grace', async ({ onTestFinished }) => {
  const { heartbeat, heard } = await startHeartbeat(onTestFinished, { deadlineGraceMs: 100 })
  const takenAtMs = monotonicMs()
  const lease = await store.running({ timeoutSeconds: 3 }, WORKER, LEASE_MS)
  const bound = (await claimedAt(lease)) + 3_100
  heartbeat.add(takenAtMs, [lease])
  await until(async () => (await expiryOf(lease)) === bound, { what: 'the lease reaches its bound' })
  const renewals = heard.renewals
  await until(() => heard.renewals > renewals + 1, { what: 'further beats were sent' })
  expect(await expiryOf(lease)).toBe(bound)
})

async function claimedAt({ runId }: Lease): Promise<number> {
  const [row] = await store.database.query<{ at: Date }>('SELECT heartbeat_at AS at FROM model_runs WHERE id = $1', [
    runId,
  ])
  return row!.at.getTime()
}

async function leaseLeftMs({ runId }: Lease): Promise<number> {
  const [row] = await store.database.query<{ left: number }>(
    `SELECT extract(epoch FROM lease_expires_at - clock())::float8 * 1000 AS left FROM model_runs WHERE id = $1`,
    [runId],
  )
  return row!.left
}
