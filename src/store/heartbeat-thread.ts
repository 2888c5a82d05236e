/**
 * The heartbeat thread: renews the worker's leases from its own event loop and connection, so that neither a blocked main loop nor
 * an exhausted pool can lose a healthy lease.
 *
 * The main thread posts the leases it takes (before their work starts) and those it is done with. Each beat answers per lease; the
 * thread posts back the ones that are lost or asked to stop. Two rules bound it: while the main loop has been silent for too
 * long nothing is renewed, and leases that could not be renewed are reported lost before they end in the database, counted
 * from the moment the last good beat was *sent*.
 */

import { parentPort, workerData } from 'node:worker_threads'
import type pg from 'pg'
import { abandon, openClient } from './connect.ts'
import { beat } from './heartbeat.ts'

export type HeartbeatThreadData = {
  url: string
  workerId: string
  leaseMs: number
  deadlineGraceMs: number
  loopSilenceMs: number
  /** One Int32 the main loop changes at each turn of its timer. */
  pulse: SharedArrayBuffer
}

export type ToHeartbeatThread =
  | { type: 'add'; takenAtMs: number; leases: { runId: string; epoch: number }[] }
  | { type: 'remove'; runIds: string[] }
  | { type: 'beat' }
  | { type: 'stop' }

export type FromHeartbeatThread =
  | { type: 'answer'; lost: string[]; cancelRequested: string[]; reached: boolean }
  | { type: 'failed'; message: string }
  | { type: 'silent'; sinceMs: number }

const data = workerData as HeartbeatThreadData
const port = parentPort!
const pulse = new Int32Array(data.pulse)
const leases = new Map<string, { epoch: number; renewedAtMs: number }>()

const everyMs = data.leaseMs / 3
const retryMs = Math.min(1_000, data.leaseMs / 10)
/** What is left of a lease when its work is told to stop: time for the signal to arrive and the work to end. */
const marginMs = Math.min(5_000, data.leaseMs / 5)

let client: pg.Client | null = null
let timer: NodeJS.Timeout | undefined
let beating = false
let beatAgain = false
let stopped = false
let lastPulse = -1
let pulseSeenAtMs = monotonicMs()

/** One clock for all threads of the process, unlike performance.now(). */
function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

port.on('message', (message: ToHeartbeatThread) => {
  if (message.type === 'add') {
    for (const { runId, epoch } of message.leases) leases.set(runId, { epoch, renewedAtMs: message.takenAtMs })
  } else if (message.type === 'remove') {
    for (const runId of message.runIds) leases.delete(runId)
  } else if (message.type === 'beat') {
    schedule(0)
  } else {
    stopped = true
    clearTimeout(timer)
    if (client) abandon(client)
    port.close()
  }
})

function schedule(inMs: number): void {
  if (stopped) return
  if (beating) {
    beatAgain = true
    return
  }
  clearTimeout(timer)
  timer = setTimeout(() => void round(), inMs)
}

async function round(): Promise<void> {
  beating = true
  let nextMs = everyMs
  try {
    const silentMs = mainSilentMs()
    if (silentMs > data.loopSilenceMs)
      port.postMessage({ type: 'silent', sinceMs: silentMs } satisfies FromHeartbeatThread)
    else await renew()
  } catch (error) {
    nextMs = retryMs
    if (client) abandon(client)
    client = null
    port.postMessage({ type: 'failed', message: String((error as Error).message) } satisfies FromHeartbeatThread)
  }
  giveUpEnding()
  beating = false
  schedule(beatAgain ? 0 : nextMs)
  beatAgain = false
}

function mainSilentMs(): number {
  const value = Atomics.load(pulse, 0)
  if (value !== lastPulse) {
    lastPulse = value
    pulseSeenAtMs = monotonicMs()
  }
  return monotonicMs() - pulseSeenAtMs
}

async function renew(): Promise<void> {
  client ??= await openClient({
    url: data.url,
    name: 'holdfast heartbeat',
    pinPlans: true,
    statementTimeoutMs: Math.ceil(everyMs),
    connectTimeoutMs: Math.ceil(everyMs),
  })
  const sentAtMs = monotonicMs()
  const held = [...leases].map(([runId, { epoch }]) => ({ runId, epoch }))
  const answers = await within(
    everyMs,
    beat(client, {
      workerId: data.workerId,
      leaseMs: data.leaseMs,
      deadlineGraceMs: data.deadlineGraceMs,
      leases: held,
    }),
  )
  const lost: string[] = []
  const cancelRequested: string[] = []
  for (const answer of answers) {
    const lease = leases.get(answer.runId)
    // Removed, or taken anew, while the beat was under way: the answer is about the past.
    if (lease?.epoch !== answer.epoch) continue
    if (answer.state === 'lost') {
      lost.push(answer.runId)
      leases.delete(answer.runId)
    } else lease.renewedAtMs = sentAtMs
    if (answer.state === 'cancel-requested') cancelRequested.push(answer.runId)
  }
  port.postMessage({ type: 'answer', lost, cancelRequested, reached: true } satisfies FromHeartbeatThread)
}

/** Work whose lease could not be renewed must stop while the lease still holds. */
function giveUpEnding(): void {
  const nowMs = monotonicMs()
  const lost: string[] = []
  for (const [runId, lease] of leases) {
    if (nowMs - lease.renewedAtMs < data.leaseMs - marginMs) continue
    lost.push(runId)
    leases.delete(runId)
  }
  if (lost.length > 0)
    port.postMessage({ type: 'answer', lost, cancelRequested: [], reached: false } satisfies FromHeartbeatThread)
}

/** A half-open connection answers nothing; the socket is given up rather than waited for. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timeout: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timeout = setTimeout(() => reject(new Error(`no answer from the database within ${Math.round(ms)} ms`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timeout)
  }
}

schedule(everyMs)
