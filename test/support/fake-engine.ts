/**
 * An engine whose jobs outlive the workers that started them, and an executor for it. Jobs end when the test says so; each counts its
 * starts. The executor behaves as real ones do: the attempt is handed over before the engine is asked, and a job is found by its id.
 */

import { createHash } from 'node:crypto'
import type {
  AbortReason,
  AttemptInput,
  AttemptReports,
  Executor,
  ExternalRef,
  Handle,
  Outcome,
} from '../../src/executor/executor.ts'

export type FakeJob = { starts: number; ended: PromiseWithResolvers<Outcome>; stops: number; ticket: string }

export class FakeEngine {
  readonly jobs = new Map<string, FakeJob>()
  /** Set it to make the engine unreachable. */
  isAway = false

  start(id: string, ticket: string): void {
    const job = this.jobs.get(id) ?? { starts: 0, ended: Promise.withResolvers<Outcome>(), stops: 0, ticket }
    job.starts += 1
    this.jobs.set(id, job)
  }

  get only(): FakeJob | undefined {
    return [...this.jobs.values()][0]
  }
}

type EngineHandle = Handle & { id: string; left: PromiseWithResolvers<Outcome>; reports: AttemptReports }

export class FakeEngineExecutor implements Executor {
  readonly name: string
  readonly engine: FakeEngine
  readonly adopted: { input: AttemptInput; ref: ExternalRef }[] = []
  /** Set it to make a worker stop dead between the hand-over and the question to the engine. */
  afterHandOver: () => Promise<void> = async () => {}
  /** How many it watches at once. */
  jobsMax = 1_000
  #watched = 0

  constructor(engine: FakeEngine, name = 'inline') {
    this.engine = engine
    this.name = name
  }

  room(): number {
    return this.jobsMax - this.#watched
  }

  async submit(input: AttemptInput, reports: AttemptReports): Promise<Handle> {
    const id = `${input.runId}-a${input.attempt}`
    await this.#place(id, reports)
    return this.#handle(input, id, reports)
  }

  async adopt(input: AttemptInput, ref: ExternalRef, reports: AttemptReports): Promise<Handle> {
    this.adopted.push({ input, ref })
    if (this.engine.isAway) throw new Error('the engine is away')
    const id = String(ref.id)
    // Its worker may have died before it asked the engine.
    if (!this.engine.jobs.has(id)) await this.#place(id, reports)
    return this.#handle(input, id, reports)
  }

  async watch(handle: Handle): Promise<Outcome> {
    this.#watched += 1
    return this.#watch(handle as EngineHandle).finally(() => {
      this.#watched -= 1
    })
  }

  async #watch(handle: EngineHandle): Promise<Outcome> {
    const { id, left, reports } = handle
    if (this.engine.isAway) return { status: 'unreachable', reason: 'the engine is away' }
    const woken = Promise.withResolvers<Outcome>()
    const unlisten = reports.engine!.onJobOutcome(() => {
      void reports.engine!.jobOutcome().then((said) => said && woken.resolve(said))
    })
    const said = await reports.engine!.jobOutcome()
    const outcome = said ?? (await Promise.race([this.engine.jobs.get(id)!.ended.promise, left.promise, woken.promise]))
    unlisten()
    return outcome
  }

  async cancel(handle: Handle, reason: AbortReason): Promise<void> {
    const { id, left } = handle as EngineHandle
    if (reason === 'shutdown' || reason === 'lease-lost') return left.resolve({ status: 'unreachable', reason })
    const job = this.engine.jobs.get(id)!
    job.stops += 1
    job.ended.resolve({ status: 'cancelled' })
  }

  async stop(): Promise<void> {}

  async #place(id: string, reports: AttemptReports): Promise<void> {
    const ticket = `${id} ${Math.random()}`
    await reports.engine!.handOver({ id }, createHash('sha256').update(ticket).digest())
    await this.afterHandOver()
    this.engine.start(id, ticket)
    await reports.engine!.alive({ id, started: true })
  }

  #handle(input: AttemptInput, id: string, reports: AttemptReports): EngineHandle {
    return { runId: input.runId, attempt: input.attempt, id, reports, left: Promise.withResolvers<Outcome>() }
  }
}
