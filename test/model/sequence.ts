/**
 * One sequence: turns the numbers of each operation into workers, leases and runs that exist, has store and model do it, and
 * compares every row afterwards. An operation that finds nothing to work on becomes a claim, so that hardly any is idle.
 */

import { expect } from 'vitest'
import { sha256 } from '../../src/run/canonical.ts'
import type { NewRun, SettleKind, Settlement } from '../../src/store/store.ts'
import { Both } from './both.ts'
import { Model } from './model.ts'
import { type ClaimShape, LEASE_MS, type Operation, QUEUES, type SubmitShape } from './operations.ts'
import { ADOPTED, claimRequest, newRun, settlementOf, uuidOf } from './requests.ts'
import type { Tally } from './tally.ts'
import { at, type Held, WORKERS, Workers } from './workers.ts'
import type { World } from './world.ts'

const DEADLINE_GRACE_MS = 15_000
const START_MS = Date.parse('2031-05-04T03:02:01Z')
const DAY_MS = 86_400_000
const EVERYTHING: ClaimShape = { slots: 1_000, queues: [0, 1], models: [0, 1, 2], room: null }
const SOME: ClaimShape = { ...EVERYTHING, slots: 3 }

export class Sequence {
  readonly #both: Both
  readonly #owner: string
  readonly #workers = new Workers()
  /** Ids of all requests, also of those that made no run. */
  readonly #asked: string[] = []
  readonly #sent: Settlement[] = []
  readonly #traded: { runId: string; token: string }[] = []
  /** Handed to engines, with the token that each job will make for itself. */
  readonly #tickets: { runId: string; ticket: string; token: string }[] = []

  constructor(world: World, tally: Tally, owner: string) {
    this.#both = new Both(world, new Model(START_MS), tally)
    this.#owner = owner
  }

  async run(operations: Operation[]): Promise<void> {
    const done: string[] = []
    try {
      await this.#both.setClock(START_MS)
      for (const operation of operations) {
        done.push(JSON.stringify(operation))
        await this.#perform(operation)
        await this.#both.compareRuns(this.#asked)
        if (operation.op.startsWith('submit') || operation.op === 'cleanKeys')
          await this.#both.compareNames(this.#owner)
        this.#both.tally.operations += 1
      }
      done.push('every run comes to its end')
      await this.#finish()
      this.#both.tally.sequences += 1
    } catch (error) {
      throw new Error(`store and model differ after these operations:\n${told(done)}\n${(error as Error).message}`, {
        cause: error,
      })
    }
  }

  async #perform(operation: Operation): Promise<void> {
    switch (operation.op) {
      case 'clock':
        return this.#both.setClock(this.#both.model.nowMs + operation.ms)
      case 'submit':
        return this.#submit(operation.run, operation.sentTwice)
      case 'submitTwo':
        return this.#submitTwo(operation.runs)
      case 'claim':
        return this.#claim(operation.worker, operation.claim)
      case 'beat':
        return this.#beat(this.#workers.awake(operation.worker), operation.of, operation.old)
      case 'settle':
        return this.#settleHeld(this.#workers.awake(operation.worker), operation.lease, operation.kind)
      case 'settleAll':
        return this.#settleAll(this.#workers.awake(operation.worker), operation.kind, operation.alsoOld)
      case 'settleAgain':
        return this.#settleAgain(operation.settlement)
      case 'zombie':
        return this.#settleOf('zombie', at(this.#workers.abandoned(), operation.lease), operation.kind)
      case 'impostor':
        return this.#impostor(operation.lease, operation.kind)
      case 'progress':
        return this.#progress(operation.lease)
      case 'handOver':
        return this.#handOver(operation)
      case 'alive':
        return this.#alive(operation.lease)
      case 'ticket':
        return this.#redeem(operation.ticket, operation.token)
      case 'say':
        return this.#say(operation.token)
      case 'adopt':
        return this.#adopt(this.#workers.awake(operation.worker), operation)
      case 'letGo':
        return this.#letGo(operation.lease)
      case 'reclaim':
        return this.#both.reclaim(operation.limit)
      case 'confirmCancels':
        return this.#both.confirmCancels(operation)
      case 'cancel':
        return this.#cancel(operation.run, operation.of)
      case 'crash':
        this.#workers.crash(this.#workers.busy(operation.worker))
        return this.#both.tally.add('crash', 'accepted')
      case 'freeze':
        this.#workers.freeze(this.#workers.busy(operation.worker))
        return this.#both.tally.add('freeze', 'accepted')
      case 'thaw':
        return this.#thaw(operation.worker)
      case 'pause':
        return this.#both.setPaused(QUEUES[operation.queue]!, operation.paused)
      case 'cleanKeys':
        return this.#both.cleanKeys()
    }
  }

  /** No run is stuck: once leases and waits are over, each is reclaimed or claimed, and ends. */
  async #finish(): Promise<void> {
    for (const queue of QUEUES) await this.#both.setPaused(queue, false)
    await this.#both.setClock(this.#both.model.nowMs + DAY_MS)
    await this.#both.reclaim(1_000)
    const workerId = this.#workers.awake(0)
    this.#workers.crash(workerId)
    await this.#claim(0, EVERYTHING)
    await this.#settleTogether(this.#workers.held(workerId), 'succeed')
    await this.#both.compareRuns(this.#asked)
    await this.#both.compareNames(this.#owner)
    const open = [...this.#both.model.runsIn('PENDING'), ...this.#both.model.runsIn('RUNNING')]
    expect(open.map((run) => run.request.id)).toEqual([])
  }

  async #submit(shape: SubmitShape, sentTwice: boolean): Promise<void> {
    const request = this.#request(shape)
    await this.#both.submit([request])
    // As after a lost reply.
    if (sentTwice) await this.#both.submit([request])
  }

  /** In one commit. The first asks for one name at most, else it would not be certain which of them comes first. */
  async #submitTwo([first, second]: [SubmitShape, SubmitShape]): Promise<void> {
    const oneName = first.key === null ? first : { ...first, dedupe: 'off' as const }
    await this.#both.submit([this.#request(oneName), this.#request(second)])
  }

  #request(shape: SubmitShape): NewRun {
    const id = uuidOf(this.#owner, this.#asked.length)
    this.#asked.push(id)
    return newRun(shape, id, this.#owner, this.#both.model.nowMs)
  }

  async #claim(worker: number, shape = SOME): Promise<void> {
    const workerId = this.#workers.awake(worker)
    this.#workers.give(workerId, await this.#both.claim(claimRequest(workerId, shape)))
  }

  async #beat(workerId: string, of: 'held' | 'held and old' | 'old', number: number): Promise<void> {
    const old = of === 'held' ? undefined : this.#oldLease(workerId, number)
    const wanted = [...(of === 'old' ? [] : this.#workers.held(workerId)), ...(old ? [old] : [])]
    const leases = [...new Set(wanted)].map(({ lease: { runId, epoch } }) => ({ runId, epoch }))
    if (leases.length === 0) return this.#claim(WORKERS.indexOf(workerId))
    const request = { workerId, leaseMs: LEASE_MS, deadlineGraceMs: DEADLINE_GRACE_MS, leases }
    for (const { runId, epoch, state } of await this.#both.beat(request)) {
      if (state === 'lost') this.#workers.drop(workerId, runId, epoch)
    }
  }

  /** By turns one of its own, which may be of a run that it holds again, and anybody's. */
  #oldLease(workerId: string, number: number): Held | undefined {
    const own = this.#workers.ever.filter((one) => one.workerId === workerId)
    return at(number % 2 === 0 ? own : this.#workers.ever, number >> 1)
  }

  async #settleHeld(workerId: string, number: number, kind: SettleKind): Promise<void> {
    const held = at(this.#workers.held(workerId), number)
    if (!held) return this.#claim(WORKERS.indexOf(workerId))
    await this.#settle(settlementOf(held.lease, workerId, kind))
  }

  /** A worker's leases and an old one, which may be of the same run, in one commit. */
  async #settleAll(workerId: string, kind: SettleKind, alsoOld: number): Promise<void> {
    const held = this.#workers.held(workerId)
    if (held.length === 0) return this.#claim(WORKERS.indexOf(workerId))
    const old = this.#oldLease(workerId, alsoOld)
    await this.#settleTogether(old && !held.includes(old) ? [...held, old] : held, kind)
  }

  async #settleTogether(leases: Held[], kind: SettleKind): Promise<void> {
    const settlements = leases.map(({ lease, workerId }) => settlementOf(lease, workerId, kind))
    await this.#both.settleTogether(settlements)
    for (const { workerId, runId, epoch } of settlements) this.#workers.drop(workerId, runId, epoch)
    this.#sent.push(...settlements)
  }

  async #settleAgain(number: number): Promise<void> {
    const settlement = at(this.#sent, number)
    if (!settlement) return this.#claim(number)
    const stale = await this.#settle(settlement)
    this.#both.tally.add('settle again', stale ? 'refused' : 'accepted')
  }

  /** Somebody who knows all about a lease but is not its holder. */
  async #impostor(number: number, kind: SettleKind): Promise<void> {
    const held = at(this.#workers.ever, number)
    const workerId = WORKERS.find((other) => other !== held?.workerId)!
    await this.#settleOf('impostor', held && { ...held, workerId }, kind)
  }

  /** A worker that slept through whatever happened goes on as if nothing had, and ends all its attempts. */
  async #thaw(worker: number): Promise<void> {
    const workerId = this.#workers.thaw(worker)
    const held = workerId ? this.#workers.held(workerId) : []
    if (held.length === 0) return this.#claim(worker)
    for (const one of held) await this.#settleOf('thaw', one, 'succeed')
  }

  async #settleOf(name: string, held: Held | undefined, kind: SettleKind): Promise<void> {
    if (!held) return this.#claim(0)
    const stale = await this.#settle(settlementOf(held.lease, held.workerId, kind))
    this.#both.tally.add(name, stale ? 'refused' : 'accepted')
  }

  async #settle(settlement: Settlement): Promise<boolean> {
    const { status } = await this.#both.settle(settlement)
    this.#workers.drop(settlement.workerId, settlement.runId, settlement.epoch)
    this.#sent.push(settlement)
    return status === 'stale'
  }

  async #progress(number: number): Promise<void> {
    const held = at(this.#workers.ever, number)
    if (!held) return this.#claim(number)
    const { runId, epoch, attempt } = held.lease
    await this.#both.saveProgress({ runId, epoch, attempt, progress: { asOfMs: this.#both.model.nowMs } })
  }

  /** By turns with the ticket of before, as after a lost reply, and with one of its own. */
  async #handOver({ lease, of, ticket: which }: Operation & { op: 'handOver' }): Promise<void> {
    const held = WORKERS.flatMap((workerId) => this.#workers.held(workerId))
    const one = at(of === 'held' ? held : this.#workers.ever, lease)
    if (!one) return this.#claim(lease)
    const before = this.#tickets.findLast(({ runId }) => runId === one.lease.runId)
    const { runId } = one.lease
    const ticket = which === 'same' && before ? before.ticket : sha256(`ticket ${runId} ${this.#tickets.length}`)
    if (await this.#both.handOver(one.lease, ticket)) this.#tickets.push({ runId, ticket, token: sha256(ticket) })
  }

  async #alive(number: number): Promise<void> {
    const held = at(this.#workers.ever, number)
    if (!held) return this.#claim(number)
    await this.#both.showLife(held.lease)
  }

  /** Late tickets are tried more often: most of the others are of attempts that are over. */
  async #redeem(number: number, whose: 'own' | 'other'): Promise<void> {
    const ticket = at(number % 3 === 0 ? this.#tickets : this.#tickets.slice(-3), number)
    if (!ticket) return this.#claim(number)
    const token = whose === 'own' ? ticket.token : sha256(`other ${ticket.token}`)
    const isTraded = await this.#both.redeemTicket(ticket.runId, ticket.ticket, token)
    if (isTraded) this.#traded.push({ runId: ticket.runId, token })
  }

  async #say(number: number): Promise<void> {
    const job = number % 3 === 0 ? at(this.#tickets, number) : (this.#traded.at(-1) ?? this.#tickets.at(-1))
    if (!job) return this.#claim(number)
    await this.#both.keepJobOutcome(job.runId, job.token, { ok: true, result_text: String(number) })
  }

  async #adopt(workerId: string, { limit, laterMs }: { limit: number; laterMs: number }): Promise<void> {
    if (laterMs > 0) await this.#both.setClock(this.#both.model.nowMs + laterMs)
    const options = { workerId, leaseMs: LEASE_MS, executors: ADOPTED, limit }
    this.#workers.give(workerId, await this.#both.adopt(options))
  }

  async #letGo(number: number): Promise<void> {
    const held = at(this.#workers.ever, number)
    if (!held) return this.#claim(number)
    await this.#both.letGo(held.lease)
  }

  async #cancel(number: number, of: 'running' | 'all' | 'none'): Promise<void> {
    const all = [...this.#both.model.runs.values()]
    const run = at(of === 'running' ? this.#both.model.runsIn('RUNNING') : all, number) ?? at(all, number)
    const runId = of === 'none' ? uuidOf(this.#owner, -1) : run?.request.id
    if (!runId) return this.#claim(number)
    await this.#both.cancel(runId)
  }
}

/** Ticks of a millisecond are what operations without effect shrink to: they are left out. */
function told(steps: string[]): string {
  const numbered = steps.map((step, index) => `${index + 1}. ${step}`)
  return numbered.filter((_, index) => steps[index] !== JSON.stringify({ op: 'clock', ms: 1 })).join('\n')
}
