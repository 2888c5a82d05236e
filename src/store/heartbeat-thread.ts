/**
 * The heartbeat thread: renews the worker's leases from its own event loop and connection, so that neither a blocked main loop nor
 * an exhausted pool can lose a healthy lease.
 *
 * The main thread leaves the leases it takes in shared memory (before their work starts) and posts those it is done with. Each beat
 * answers per lease; the thread posts back the ones that are lost or asked to stop. Two rules bound it: while the main loop has been silent for too
 * long nothing is renewed, and leases that could not be renewed are reported lost before they end in the database, counted
 * from the moment the last good beat was *sent*.
 */

import { parentPort, workerData } from 'node:worker_threads'
import type pg from 'pg'
import { Mailbox } from '../run/mailbox.ts'
import { abandon, openClient } from './connect.ts'
import { beat } from './heartbeat.ts'
import { type EndedOfClaim, type HeldLease, HeldLeases, leaseName, leaseNamed } from './held-leases.ts'

export type HeartbeatThreadData = {
  url: string
  workerId: string
  leaseMs: number
  deadlineGraceMs: number
  loopSilenceMs: number
  /** One Int32 the main loop changes at each turn of its timer. */
  pulse: SharedArrayBuffer
  /** A `Mailbox` with the claims the main thread has taken. */
  taken: SharedArrayBuffer
}

export type ToHeartbeatThread =
  | { type: 'add'; claims: string }
  | { type: 'end'; claims: EndedOfClaim[] }
  | { type: 'beat' }
  | { type: 'stop' }

export type FromHeartbeatThread =
  | { type: 'ready' }
  | { type: 'answer'; lost: HeldLease[]; cancelRequested: HeldLease[]; reached: boolean }
  | { type: 'failed'; message: string }
  | { type: 'silent'; sinceMs: number }

const data = workerData as HeartbeatThreadData
const port = parentPort!
const pulse = new Int32Array(data.pulse)
const leases = new HeldLeases()
const taken = new Mailbox(data.taken)

const everyMs = data.leaseMs / 3
const retryMs = Math.min(1_000, data.leaseMs / 10)
/** What is left of a lease when its work is told to stop: time for the signal to arrive and the work to end. */
const marginMs = Math.min(5_000, data.leaseMs / 5)

const lookout = setInterval(giveUpEnding, marginMs / 4)
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
  leases.add(taken.take())
  if (message.type === 'add') {
    leases.add(message.claims)
  } else if (message.type === 'end') {
    for (const ended of message.claims) leases.end(ended)
  } else if (message.type === 'beat') {
    schedule(0)
  } else {
    stopped = true
    clearTimeout(timer)
    clearInterval(lookout)
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
  leases.add(taken.take())
  const sentAtMs = monotonicMs()
  const answers = await within(
    everyMs,
    beat(client, {
      workerId: data.workerId,
      leaseMs: data.leaseMs,
      deadlineGraceMs: data.deadlineGraceMs,
      leases: leases.names().map(leaseNamed),
    }),
  )
  const lost: HeldLease[] = []
  const cancelRequested: HeldLease[] = []
  for (const { state, ...lease } of answers) {
    const name = leaseName(lease)
    // It ended while the beat was under way: the answer is about the past.
    if (!leases.has(name)) continue
    if (state === 'lost') {
      lost.push(lease)
      leases.lost(name)
    } else leases.renewed(name, sentAtMs)
    if (state === 'cancel-requested') cancelRequested.push(lease)
  }
  port.postMessage({ type: 'answer', lost, cancelRequested, reached: true } satisfies FromHeartbeatThread)
}

/** Work whose lease could not be renewed must stop while the lease still holds, also while a beat waits for an answer. */
function giveUpEnding(): void {
  leases.add(taken.take())
  const lost = leases.loseOlderThan(monotonicMs() - (data.leaseMs - marginMs)).map(leaseNamed)
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
port.postMessage({ type: 'ready' } satisfies FromHeartbeatThread)
