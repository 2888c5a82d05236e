/**
 * The model: all runs, names and queues of one sequence in memory, changed only by the pure rules of `src/run`.
 *
 * Every method does what the store's verb of that name should do at the same instant and gives the answer the store
 * should give. It holds besides the rules' run what the store writes around it: times, events, errors, results.
 */

import { judgeName } from '../../src/run/idempotency.ts'
import * as rules from '../../src/run/rules.ts'
import { type AttemptState, isTerminal, type RunStatus } from '../../src/run/status.ts'
import type { Fence } from '../../src/store/ports/attempts.ts'
import type { Cancelled, ClaimRequest, HeartbeatAnswer, NewRun, Settled, Settlement } from '../../src/store/store.ts'

export type ModelRun = {
  request: NewRun
  state: rules.Run
  executor: string
  reclaimCount: number
  createdAtMs: number
  startedAtMs: number | null
  finishedAtMs: number | null
  /** Of the latest attempt; only the row of a RUNNING run has one. */
  deadlineAtMs: number | null
  cancelRequestedAtMs: number | null
  lastError: string | null
  result: unknown
  /** Their states are in `state.attempts`. */
  attempts: ModelAttempt[]
  /** Type and the run's status after it. */
  events: string[]
}

export type ModelAttempt = {
  workerId: string
  epoch: number
  executor: string
  progress: unknown
  ticket: string | null
  token: string | null
  isElsewhere: boolean
  /** What its job said of its end. */
  said: unknown
  /** Lost because its lease expired, and not by the word of its worker. */
  isReclaimed: boolean
}

export type ModelName = { runId: string; payloadHash: string; expiresAtMs: number }

export type SubmitAnswer = { runId: string; idempotentHit: boolean } | 'idempotency-key-reused'

/** Of the store: how long what an engine has is left to be adopted, and how long past its deadline it can be. */
const ADOPT_MS = 60_000
const ADOPT_OVERDUE_MS = 300_000

const STATE_AFTER = {
  succeed: 'SUCCEEDED',
  fail: 'FAILED',
  retry: 'FAILED',
  cancel: 'CANCELLED',
  release: 'RELEASED',
  lost: 'LOST',
} as const

const EVENT_OF_END: Partial<Record<RunStatus, string>> = {
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
}

export class Model {
  nowMs: number
  readonly runs = new Map<string, ModelRun>()
  /** By kind and key; a sequence has one owner. */
  readonly names = new Map<string, ModelName>()
  readonly paused = new Set<string>()

  constructor(nowMs: number) {
    this.nowMs = nowMs
  }

  run(runId: string): ModelRun {
    const run = this.runs.get(runId)
    if (!run) throw new Error(`the model has no run ${runId}`)
    return run
  }

  runsIn(status: RunStatus): ModelRun[] {
    return [...this.runs.values()].filter((run) => run.state.status === status)
  }

  submit(request: NewRun): SubmitAnswer {
    const { id: runId, payloadHash } = request
    const names = namesOf(request)
    for (const { kind, name, dedupe } of names) {
      const taken = this.names.get(name)
      if (!taken) continue
      const expired = taken.expiresAtMs <= this.nowMs
      const verdict = judgeName(
        { kind, runId, payloadHash, dedupe },
        { ...taken, expired, status: this.run(taken.runId).state.status },
      )
      if (verdict === 'conflict') return 'idempotency-key-reused'
      if (verdict === 'free') continue
      // The key of a request answered by another name leads to that run from then on.
      if (kind !== 'key' && request.key) this.#take(names[0]!, taken.runId, payloadHash)
      return { runId: taken.runId, idempotentHit: verdict === 'hit' }
    }
    for (const name of names) this.#take(name, runId, payloadHash)
    if (!this.runs.has(runId)) this.#create(request)
    return { runId, idempotentHit: false }
  }

  /** By priority, then availability, then id, as far as slots and rooms go. */
  claim({ workerId, leaseMs, slots, queues, models, engines = [] }: ClaimRequest): ModelRun[] {
    const queueRoom = new Map(queues.map(({ queue, room }) => [queue, room]))
    const modelRoom = new Map(models.map(({ model, version, room }) => [`${model}@${version}`, room]))
    const claimed: ModelRun[] = []
    for (const run of [...this.runs.values()].sort(byTurn)) {
      const { queue, model: name, modelVersion } = run.request
      const offered = `${name}@${modelVersion}`
      const room = Math.min(slots - claimed.length, queueRoom.get(queue) ?? 0, modelRoom.get(offered) ?? 0)
      if (room <= 0 || this.paused.has(queue)) continue
      const engine = engines.includes(run.executor)
      const change = rules.claim(run.state, { worker: workerId, nowMs: this.nowMs, leaseMs, engine })
      if (!change.ok) continue
      queueRoom.set(queue, queueRoom.get(queue)! - 1)
      modelRoom.set(offered, modelRoom.get(offered)! - 1)
      if (run.reclaimCount > 0 && run.executor === 'inline') run.executor = 'process'
      run.startedAtMs ??= this.nowMs
      run.deadlineAtMs = this.nowMs + run.request.timeoutSeconds * 1_000
      run.attempts.push(newAttempt(workerId, change.run.leaseEpoch, run.executor))
      this.#put(run, change.run, 'started')
      claimed.push(run)
    }
    return claimed
  }

  beat(input: {
    workerId: string
    leaseMs: number
    deadlineGraceMs: number
    leases: { runId: string; epoch: number }[]
  }): HeartbeatAnswer[] {
    return input.leases.map(({ runId, epoch }) => {
      const run = this.run(runId)
      const untilDeadlineMs = (run.deadlineAtMs ?? 0) + input.deadlineGraceMs - this.nowMs
      const leaseMs = Math.min(input.leaseMs, untilDeadlineMs)
      const change = rules.beat(run.state, { worker: input.workerId, epoch, nowMs: this.nowMs, leaseMs })
      if (!change.ok) return { runId, epoch, state: 'lost' }
      run.state = change.run
      return { runId, epoch, state: run.state.cancelRequested ? 'cancel-requested' : 'held' }
    })
  }

  settle({ runId, epoch, attempt, workerId, kind, delaySeconds, error, result }: Settlement): Settled {
    const run = this.run(runId)
    const holder = run.state.leaseOwner
    const delayMs = (delaySeconds ?? 0) * 1_000
    const change = rules.settle(run.state, { epoch, kind, nowMs: this.nowMs, delayMs, resultHash: result?.hash })
    if (change.ok && holder === workerId) {
      if (error) run.lastError = `${error.class} in attempt ${attempt}`
      if (result?.text) run.result = JSON.parse(result.text)
      if (kind === 'lost') run.reclaimCount += 1
      const back = { release: 'released', lost: 'lost' }[kind as string] ?? 'retry_scheduled'
      this.#put(run, change.run, EVENT_OF_END[change.run.status] ?? back)
      return { status: run.state.status, repeated: false }
    }
    const told = run.attempts[attempt - 1]
    const endedSo = told?.workerId === workerId && told.epoch === epoch && !(kind === 'lost' && told.isReclaimed)
    if (endedSo && run.state.attempts[attempt - 1] === STATE_AFTER[kind]) {
      return { status: run.state.status, repeated: true }
    }
    this.#put(run, rules.noteLateResult(run.state), 'late_result_discarded')
    return { status: 'stale', repeated: false }
  }

  /** In the order in which their leases ended. */
  expired(): ModelRun[] {
    return this.runsIn('RUNNING')
      .filter((run) => rules.reclaim(run.state, { nowMs: this.nowMs, adoptMs: ADOPT_MS }).ok)
      .sort((a, b) => a.state.leaseExpiresAtMs! - b.state.leaseExpiresAtMs!)
  }

  reclaim(run: ModelRun): void {
    const change = rules.reclaim(run.state, { nowMs: this.nowMs, adoptMs: ADOPT_MS })
    if (!change.ok) throw new Error(`run ${run.request.id} was reclaimed: ${change.why}`)
    run.reclaimCount += 1
    run.attempts.at(-1)!.isReclaimed = true
    run.lastError = `WorkerLost in attempt ${run.state.attemptCount}`
    this.#put(run, change.run, EVENT_OF_END[change.run.status] ?? 'reclaimed')
  }

  /** In the order in which they were asked for. */
  overdueCancels(afterMs: number): ModelRun[] {
    return this.runsIn('RUNNING')
      .filter(({ state, cancelRequestedAtMs }) => {
        const patienceMs = afterMs + (state.handedOver ? ADOPT_MS : 0)
        return state.cancelRequested && cancelRequestedAtMs! < this.nowMs - patienceMs
      })
      .sort((a, b) => a.cancelRequestedAtMs! - b.cancelRequestedAtMs!)
  }

  confirmCancel(run: ModelRun): void {
    const change = rules.settle(run.state, { epoch: run.state.leaseEpoch, kind: 'cancel', nowMs: this.nowMs })
    if (!change.ok) throw new Error(`the cancel of run ${run.request.id} was confirmed: ${change.why}`)
    run.lastError = `Cancelled in attempt ${run.state.attemptCount}`
    this.#put(run, change.run, 'cancelled')
  }

  cancel(runId: string): { outcome: Cancelled['outcome']; holder: string | null } {
    const run = this.runs.get(runId)
    if (!run) return { outcome: 'not-found', holder: null }
    const change = rules.requestCancel(run.state, { nowMs: this.nowMs })
    if (change.ok && !run.state.cancelRequested) {
      run.cancelRequestedAtMs = this.nowMs
      this.#put(run, change.run, change.run.status === 'CANCELLED' ? 'cancelled' : 'cancel_requested')
    }
    const { status, leaseOwner } = run.state
    if (status === 'RUNNING') return { outcome: 'requested', holder: leaseOwner }
    return { outcome: status === 'CANCELLED' ? 'cancelled' : 'already-finished', holder: null }
  }

  /** True when the progress is kept: the attempt is open under this epoch. */
  saveProgress(input: { runId: string; epoch: number; attempt: number; progress: unknown }): boolean {
    const { state, attempts } = this.run(input.runId)
    const attempt = attempts[input.attempt - 1]
    if (!isOpen(state.attempts[input.attempt - 1]) || attempt?.epoch !== input.epoch) return false
    attempt.progress = input.progress
    return true
  }

  /** `traded`: its job has started, so it is not handed over again. */
  handOver({ runId, epoch, attempt: no }: Fence, ticket: string): boolean | 'traded' {
    const run = this.run(runId)
    const attempt = run.attempts[no - 1]!
    if (!isOpen(run.state.attempts[no - 1]) || attempt.epoch !== epoch) return false
    if (attempt.ticket === ticket) return true
    if (attempt.token !== null) return 'traded'
    const change = rules.handOver(run.state, { epoch })
    if (!change.ok) return false
    Object.assign(attempt, { ticket, isElsewhere: true })
    this.#put(run, change.run, 'submitted')
    return true
  }

  /** Answers whether it was the first sign of life. */
  showLife({ runId, epoch }: Fence): boolean {
    const run = this.run(runId)
    const change = rules.showLife(run.state, { epoch })
    if (!change.ok || change.run === run.state) return false
    this.#put(run, change.run, 'running')
    return true
  }

  /** The epoch under which the attempt goes on, or null. */
  redeemTicket(runId: string, ticket: string, token: string): number | null {
    const open = this.#open(runId, (attempt) => attempt.ticket === ticket)
    if (!open || (open.token !== null && open.token !== token)) return null
    open.token = token
    const { attemptCount: attempt } = this.run(runId).state
    this.showLife({ runId, epoch: open.epoch, attempt })
    return open.epoch
  }

  keepJobOutcome(runId: string, token: string, outcome: unknown): boolean {
    const open = this.#open(runId, (attempt) => attempt.token === token)
    if (!open) return false
    open.said ??= outcome
    return true
  }

  letGo({ runId, epoch }: Fence): boolean {
    const run = this.run(runId)
    const change = rules.letGo(run.state, { epoch, nowMs: this.nowMs })
    if (change.ok) run.state = change.run
    return change.ok
  }

  /** In the order in which their leases ended. */
  adoptable(engines: string[]): ModelRun[] {
    const input = { worker: '', nowMs: this.nowMs, leaseMs: 1 }
    return this.runsIn('RUNNING')
      .filter((run) => engines.includes(run.executor) && run.deadlineAtMs! > this.nowMs - ADOPT_OVERDUE_MS)
      .filter((run) => rules.adopt(run.state, input).ok)
      .sort((a, b) => a.state.leaseExpiresAtMs! - b.state.leaseExpiresAtMs!)
  }

  adopt(run: ModelRun, input: { workerId: string; leaseMs: number }): void {
    const change = rules.adopt(run.state, { worker: input.workerId, nowMs: this.nowMs, leaseMs: input.leaseMs })
    if (!change.ok) throw new Error(`run ${run.request.id} was adopted: ${change.why}`)
    Object.assign(run.attempts.at(-1)!, { workerId: input.workerId, epoch: change.run.leaseEpoch })
    this.#put(run, change.run, 'adopted')
  }

  #open(runId: string, fits: (attempt: ModelAttempt) => boolean): ModelAttempt | undefined {
    const { state, attempts } = this.run(runId)
    const last = attempts.at(-1)
    return last && isOpen(state.attempts.at(-1)) && fits(last) ? last : undefined
  }

  cleanKeys(): number {
    const gone = [...this.names].filter(
      ([name, { expiresAtMs, runId }]) =>
        expiresAtMs <= this.nowMs && (name.startsWith('slot') || isTerminal(this.run(runId).state.status)),
    )
    for (const [name] of gone) this.names.delete(name)
    return gone.length
  }

  #take({ name, ttlSeconds }: Name, runId: string, payloadHash: string): void {
    this.names.set(name, { runId, payloadHash, expiresAtMs: this.nowMs + ttlSeconds * 1_000 })
  }

  #create(request: NewRun): void {
    const wantedAtMs = request.availableAt ? Date.parse(request.availableAt) : this.nowMs
    const availableAtMs = Math.max(wantedAtMs, this.nowMs)
    this.runs.set(request.id, {
      request,
      state: rules.submitted({ nowMs: this.nowMs, maxAttempts: request.maxAttempts, availableAtMs }),
      executor: request.executor,
      reclaimCount: 0,
      createdAtMs: this.nowMs,
      startedAtMs: null,
      finishedAtMs: null,
      deadlineAtMs: null,
      cancelRequestedAtMs: null,
      lastError: null,
      result: null,
      attempts: [],
      events: ['created PENDING'],
    })
  }

  #put(run: ModelRun, next: rules.Run, event: string): void {
    if (isTerminal(next.status)) run.finishedAtMs ??= this.nowMs
    run.state = next
    run.events.push(`${event} ${next.status}`)
  }
}

function newAttempt(workerId: string, epoch: number, executor: string): ModelAttempt {
  const nothing = { progress: null, ticket: null, token: null, isElsewhere: false, said: null, isReclaimed: false }
  return { workerId, epoch, executor, ...nothing }
}

function isOpen(state: AttemptState | undefined): boolean {
  return state === 'SUBMITTED' || state === 'RUNNING'
}

type Name = { kind: 'key' | 'retry' | 'slot'; name: string; dedupe: 'active' | 'succeeded'; ttlSeconds: number }

/** Keys first: an explicit key decides alone. */
function namesOf({ key, slot, retryOf, payloadHash }: NewRun): Name[] {
  const names: Name[] = []
  if (key) names.push({ kind: 'key', name: `key ${key.key}`, dedupe: 'active', ttlSeconds: key.ttlSeconds })
  if (retryOf) names.push({ kind: 'retry', name: `retry ${retryOf}`, dedupe: 'active', ttlSeconds: 3600 })
  if (slot) {
    names.push({ kind: 'slot', name: `slot ${payloadHash}`, dedupe: slot.dedupe, ttlSeconds: slot.windowSeconds })
  }
  return names
}

function byTurn(a: ModelRun, b: ModelRun): number {
  const earlier = b.request.priority - a.request.priority || a.state.availableAtMs - b.state.availableAtMs
  return earlier || (a.request.id < b.request.id ? -1 : 1)
}
