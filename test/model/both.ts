/**
 * The store and the model side by side: each verb is done by both at the same instant and their answers are compared.
 * What both answered goes to the caller, and into the tally.
 */

import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { Refusal } from '../../src/run/errors.ts'
import type { Beat } from '../../src/store/heartbeat.ts'
import type { AdoptOptions, Fence, JobOutcome } from '../../src/store/ports/attempts.ts'
import type { ProgressItem } from '../../src/store/progress.ts'
import type {
  ClaimRequest,
  HeartbeatAnswer,
  Lease,
  NewRun,
  Reclaimed,
  Settled,
  Settlement,
} from '../../src/store/store.ts'
import { byRunId, leaseView, wantedLease } from './lease-view.ts'
import type { Model, ModelRun } from './model.ts'
import { modelNames, modelRuns, readNames, readRuns } from './snapshot.ts'
import type { Tally } from './tally.ts'
import type { World } from './world.ts'

export class Both {
  readonly model: Model
  readonly tally: Tally
  readonly #world: World

  constructor(world: World, model: Model, tally: Tally) {
    this.#world = world
    this.model = model
    this.tally = tally
  }

  async compareRuns(ids: string[]): Promise<void> {
    const rows = await readRuns(this.#world.pool, ids)
    const wanted = modelRuns(this.model)
    if (!isDeepStrictEqual(rows, wanted)) expect(rows, 'the rows differ').toEqual(wanted)
  }

  async compareNames(owner: string): Promise<void> {
    expect(await readNames(this.#world.pool, owner), 'the names differ').toEqual(modelNames(this.model))
  }

  async setClock(nowMs: number): Promise<void> {
    this.tally.add(nowMs < this.model.nowMs ? 'clock back' : 'clock forward', 'accepted')
    this.model.nowMs = nowMs
    await this.#world.setClock(nowMs)
  }

  /** Several requests share a commit. */
  async submit(requests: NewRun[]): Promise<void> {
    const answers = await Promise.all(requests.map((request) => this.#world.submit.one(request)))
    for (const [index, answer] of answers.entries()) {
      const wanted = this.model.submit(requests[index]!)
      if (answer instanceof Refusal || typeof wanted === 'string') {
        expect(answer instanceof Refusal ? answer.code : answer, 'the answer to submit differs').toEqual(wanted)
        this.tally.add('submit', 'refused')
        continue
      }
      const { run, idempotentHit } = answer
      const { status } = this.model.run(wanted.runId).state
      const given = { runId: run.id, idempotentHit, status: run.status }
      expect(given, 'the answer to submit differs').toEqual({ ...wanted, status })
      this.tally.add(idempotentHit ? 'submit known' : 'submit', 'accepted')
    }
  }

  async claim(request: ClaimRequest): Promise<Lease[]> {
    const leases = await this.#world.claim(request)
    const waiting = this.model.runsIn('PENDING').length
    const claimed = this.model.claim(request)
    const [given, wanted] = [leases.map(leaseView), claimed.map(wantedLease)]
    expect(given.sort(byRunId), 'the claimed runs differ').toEqual(wanted.sort(byRunId))
    this.#countSome('claim', claimed.length, waiting)
    return leases
  }

  async beat(request: Beat): Promise<HeartbeatAnswer[]> {
    const answers = await this.#world.beat(request)
    expect(answers, 'the answers to a beat differ').toEqual(this.model.beat(request))
    for (const { state } of answers) this.tally.add('beat', state === 'lost' ? 'refused' : 'accepted')
    return answers
  }

  async settle(settlement: Settlement): Promise<Settled> {
    const answer = await this.#world.settle(settlement)
    expect(answer, 'the answer to settle differs').toEqual(this.model.settle(settlement))
    if (!answer.repeated) {
      this.tally.add(`settle ${settlement.kind}`, answer.status === 'stale' ? 'refused' : 'accepted')
    }
    return answer
  }

  /** All in one commit. */
  async settleTogether(settlements: Settlement[]): Promise<void> {
    const answers = (await this.#world.settleAll(settlements)) as Settled[]
    const wanted = settlements.map((settlement) => this.model.settle(settlement))
    expect(answers, 'the answers to a batch of settles differ').toEqual(wanted)
    for (const { status } of answers) this.tally.add('settle together', status === 'stale' ? 'refused' : 'accepted')
  }

  /** The store gives no answer; whether the progress was kept shows in the rows. */
  async saveProgress(item: ProgressItem): Promise<void> {
    await this.#world.saveProgress([item])
    this.tally.add('progress', this.model.saveProgress(item) ? 'accepted' : 'refused')
  }

  async reclaim(limit: number): Promise<void> {
    const leased = this.model.runsIn('RUNNING').length
    const taken = await this.#world.reclaim(limit)
    this.#compareTaken(taken, this.model.expired(), limit, {
      sinceMs: (run) => run.state.leaseExpiresAtMs!,
      apply: (run) => this.model.reclaim(run),
    })
    this.#countSome('reclaim', taken.length, leased)
  }

  async confirmCancels(options: { afterMs: number; limit: number }): Promise<void> {
    const asked = this.model.runsIn('RUNNING').filter((run) => run.state.cancelRequested).length
    const taken = await this.#world.confirmCancels(options)
    this.#compareTaken(taken, this.model.overdueCancels(options.afterMs), options.limit, {
      sinceMs: (run) => run.cancelRequestedAtMs!,
      apply: (run) => this.model.confirmCancel(run),
    })
    this.#countSome('confirm overdue cancels', taken.length, asked)
  }

  async cancel(runId: string): Promise<void> {
    const answer = await this.#world.cancel(runId)
    const holder = answer.outcome === 'requested' ? answer.holder : null
    expect({ outcome: answer.outcome, holder }, 'the answer to cancel differs').toEqual(this.model.cancel(runId))
    const done = answer.outcome === 'cancelled' || answer.outcome === 'requested'
    this.tally.add('cancel', done ? 'accepted' : 'refused')
  }

  async handOver(fence: Fence, ticket: string): Promise<boolean> {
    const answer = await this.#world.handOver(fence, ticket).catch(() => 'traded' as const)
    expect(answer, 'the answer to a hand-over differs').toEqual(this.model.handOver(fence, ticket))
    this.tally.add('hand over', answer === true ? 'accepted' : 'refused')
    return answer === true
  }

  /** The store gives no answer; what came of it shows in the rows. */
  async showLife(fence: Fence): Promise<void> {
    await this.#world.started(fence)
    this.tally.add('sign of life', this.model.showLife(fence) ? 'accepted' : 'refused')
  }

  async redeemTicket(runId: string, ticket: string, token: string): Promise<boolean> {
    const open = await this.#world.redeemTicket(runId, ticket, token)
    expect(open?.epoch ?? null, 'the answer to a ticket differs').toEqual(this.model.redeemTicket(runId, ticket, token))
    this.tally.add('ticket', open ? 'accepted' : 'refused')
    return open !== null
  }

  async keepJobOutcome(runId: string, token: string, outcome: JobOutcome): Promise<void> {
    const isKept = await this.#world.keepJobOutcome(runId, token, outcome)
    expect(isKept, 'the answer to what a job said differs').toEqual(this.model.keepJobOutcome(runId, token, outcome))
    this.tally.add('say', isKept ? 'accepted' : 'refused')
  }

  async letGo(fence: Fence): Promise<void> {
    const isLetGo = await this.#world.letGo(fence)
    expect(isLetGo, 'the answer to letting go differs').toEqual(this.model.letGo(fence))
    this.tally.add('let go', isLetGo ? 'accepted' : 'refused')
  }

  /** Those whose lease ended first come first; among equals the store may choose. */
  async adopt(options: AdoptOptions): Promise<Lease[]> {
    const leased = this.model.runsIn('RUNNING').length
    const adopted = await this.#world.adopt(options)
    const endOf = (run: ModelRun) => run.state.leaseExpiresAtMs!
    const wanted = this.model.adoptable(options.executors).slice(0, options.limit).map(endOf)
    const ends = adopted.map(({ runId }) => endOf(this.model.run(runId))).sort((a, b) => a - b)
    expect(ends, 'the runs adopted differ').toEqual(wanted)
    for (const { externalRef: _, holderBefore, ...lease } of adopted) {
      const run = this.model.run(lease.runId)
      expect(holderBefore, 'the holder before differs').toBe(run.state.leaseOwner)
      this.model.adopt(run, options)
      expect(leaseView(lease), 'an adopted lease differs').toEqual(wantedLease(run))
    }
    this.#countSome('adopt', adopted.length, leased)
    return adopted
  }

  async setPaused(queue: string, paused: boolean): Promise<void> {
    await this.#world.setPaused(queue, paused)
    if (paused) this.model.paused.add(queue)
    else this.model.paused.delete(queue)
    this.tally.add(paused ? 'pause' : 'resume', 'accepted')
  }

  /** The database also holds names of earlier sequences, so the numbers cannot be compared. */
  async cleanKeys(): Promise<void> {
    await this.#world.cleanKeys()
    this.tally.add('clean keys', this.model.cleanKeys() > 0 ? 'accepted' : 'refused')
  }

  /** The longest overdue come first; among equals the store may choose. */
  #compareTaken(
    taken: Reclaimed[],
    due: ModelRun[],
    limit: number,
    { sinceMs, apply }: { sinceMs(run: ModelRun): number; apply(run: ModelRun): void },
  ): void {
    const wanted = due.slice(0, limit).map((run) => this.model.nowMs - sinceMs(run))
    const given = taken.map((one) => Math.round(one.overdueMs)).sort((a, b) => b - a)
    expect(given, 'the runs taken differ').toEqual(wanted)
    for (const { runId, workerId, attempt, status } of taken) {
      const run = this.model.run(runId)
      const holder = { workerId: run.state.leaseOwner, attempt: run.state.attemptCount }
      apply(run)
      expect({ workerId, attempt, status }, 'a run taken differs').toEqual({ ...holder, status: run.state.status })
    }
  }

  /** Taking none of what there is counts as refused; without anything to take there is nothing to count. */
  #countSome(name: string, taken: number, of: number): void {
    if (taken > 0) this.tally.add(name, 'accepted')
    else if (of > 0) this.tally.add(name, 'refused')
  }
}
