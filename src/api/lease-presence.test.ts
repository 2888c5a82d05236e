import { expect, it, vi } from 'vitest'
import { recordingLog } from '../../test/support/recording-log.ts'
import type { RemoteWorker } from '../store/ports/remote.ts'
import { createLeasePresence } from './lease-presence.ts'

const WORKER: RemoteWorker = {
  workerId: 'remote:w',
  host: 'box',
  pid: 1,
  version: '1',
  queues: ['default'],
  models: ['m@1'],
  concurrency: 1,
}

function house() {
  const clock = { nowMs: 0 }
  const remote = { seen: vi.fn(async () => {}), holderSeen: vi.fn(async () => {}) }
  const store = { remote, workerStopped: vi.fn(async () => {}) } as never
  return { clock, remote, presence: createLeasePresence({ store, log: recordingLog().log }, () => clock.nowMs) }
}

it('writes a worker every ten seconds, and at once when it offers something else or comes back', async () => {
  const { clock, remote, presence } = house()
  await presence.seen(WORKER)
  clock.nowMs = 9_000
  await presence.seen(WORKER)
  expect(remote.seen).toHaveBeenCalledTimes(1)
  clock.nowMs = 10_000
  await presence.seen(WORKER)
  await presence.seen({ ...WORKER, models: ['m@2'] })
  expect(remote.seen).toHaveBeenCalledTimes(3)
  await presence.stopped(WORKER.workerId)
  await presence.seen({ ...WORKER, models: ['m@2'] })
  expect(remote.seen).toHaveBeenCalledTimes(4)
})

it('tries again with the next request when it could not be written', async () => {
  const { remote, presence } = house()
  remote.seen.mockRejectedValueOnce(new Error('no database'))
  await expect(presence.seen(WORKER)).rejects.toThrow('no database')
  await presence.seen(WORKER)
  expect(remote.seen).toHaveBeenCalledTimes(2)
})

it('a heartbeat does not wait for it, nor fail with it', async () => {
  const { remote, presence } = house()
  remote.holderSeen.mockRejectedValueOnce(new Error('no database'))
  presence.holderSeen('run')
  presence.holderSeen('run')
  expect(remote.holderSeen).toHaveBeenCalledTimes(1)
})
