/**
 * One attempt on a Ray cluster, from the worker's side: placed once, followed by polling, stopped when asked, ended once.
 *
 * What the job itself said is the truth; then an outcome line in its log; only then what Ray says. A cluster that does not answer says nothing,
 * and the attempt goes on until its time is over. A job that is gone (404 after it was there, as when the head was started anew) is lost
 * once it has been gone for a while. When the lease is lost or the worker stops, the job is left as it is: whoever has the lease
 * next goes on with it, and a job whose attempt is over ends itself or is swept.
 */

import { ownError } from '../model/attempt-error.ts'
import { abortedOutcome } from '../model/run-attempt.ts'
import type { AbortReason, AttemptInput, AttemptReports, ExternalRef, Handle, Outcome } from './executor.ts'
import { Pause } from './pause.ts'
import { type RayClient, type RayJob, RayRefused, type RaySubmission, RayUnreachable } from './ray-client.ts'
import { RayLogReader } from './ray-log-reader.ts'
import { stopJob } from './ray-stop.ts'
import { verdictOf } from './ray-verdict.ts'
import { Timer } from './timer.ts'

export type RayTimings = {
  /** Longest wait between two looks at a job that Ray answers for. */
  pollMs: number
  /** How long a job must be gone before its attempt is lost. */
  lostAfterMs: number
  /** How long to wait for word from a job that Ray has lost sight of. */
  doubtMs: number
  /** How long an attempt whose time is over may take to stop. */
  timeoutGraceMs: number
}

export type RayAttemptOptions = {
  input: AttemptInput
  ref: ExternalRef & { cluster: string; submission_id: string }
  reports: AttemptReports
  client: RayClient
  timings: RayTimings
  /** What places the job; null to go on with one that was placed before. */
  placing: { submission: RaySubmission; ticket: string; prepare: () => Promise<void> } | null
}

/** A job that no worker ever saw may never have been placed: its worker died between noting it and asking Ray. */
const NEVER_SEEN_MS = 30_000
const FIRST_POLL_MS = 250
const NOTE_LOG_EVERY_MS = 15_000
/** A cluster that does not answer is asked more seldom, up to this many times the usual wait. */
const SILENT_POLLS_MAX = 8

type Sight = { job: RayJob } | { gone: true } | { unreachable: string }

export class RayAttempt implements Handle {
  readonly runId: string
  readonly attempt: number
  readonly outcome: Promise<Outcome>
  readonly #options: RayAttemptOptions
  readonly #id: string
  readonly #client: RayClient
  readonly #pause = new Pause()
  readonly #log: RayLogReader
  readonly #deadline: Timer
  readonly #unlisten: (() => void) | undefined
  #ticket: string | null
  #abortReason: AbortReason | null = null
  #left: string | null = null
  #seen: boolean
  #isAlive = false
  #goneSinceMs: number | null = null
  #doubtSinceMs: number | null = null
  #silentLooks = 0
  #quietLooks = 0
  #notedAtMs = performance.now()

  constructor(options: RayAttemptOptions) {
    const { input, ref, reports, client, placing } = options
    this.runId = input.runId
    this.attempt = input.attempt
    this.#options = options
    this.#id = ref.submission_id
    this.#client = client
    this.#ticket = placing?.ticket ?? null
    this.#seen = ref.session !== undefined
    this.#log = new RayLogReader(client, this.#id, reports, typeof ref.log_chars === 'number' ? ref.log_chars : 0)
    this.#deadline = new Timer(input.timeoutMs, () => this.#abort('timeout'))
    this.#unlisten = reports.engine?.onJobOutcome(() => this.#pause.end())
    this.outcome = this.#run().finally(() => {
      this.#deadline.stop()
      this.#unlisten?.()
    })
  }

  async cancel(reason: AbortReason): Promise<void> {
    if (reason === 'lease-lost' || reason === 'shutdown') this.leave(`the worker let go of it (${reason})`)
    else this.#abort(reason)
    await this.outcome
  }

  /** Stops looking at the job, which goes on. */
  leave(why: string): void {
    this.#left ??= why
    this.#pause.end()
  }

  #abort(reason: AbortReason): void {
    this.#abortReason ??= reason
    this.#pause.end()
  }

  async #run(): Promise<Outcome> {
    try {
      const outcome = (await this.#place()) ?? (await this.#follow())
      if (outcome.status !== 'unreachable') await this.#log.finish()
      return outcome
    } catch (error) {
      return { status: 'unreachable', reason: `following the job failed: ${(error as Error).message}` }
    }
  }

  /** Null when the job is there. Never asks Ray twice without having seen that there is no job yet. */
  async #place(): Promise<Outcome | null> {
    const { placing, timings } = this.#options
    if (placing === null) return null
    const startMs = performance.now()
    let mayBeThere = false
    for (let tries = 0; ; tries += 1) {
      if (this.#left !== null) return { status: 'unreachable', reason: this.#left }
      if (this.#abortReason !== null) return mayBeThere ? this.#stop() : this.#aborted()
      let refusal: RayRefused | null = null
      let why: string
      try {
        await placing.prepare()
        mayBeThere = true
        await this.#client.submit(placing.submission)
        this.#seen = true
        return null
      } catch (error) {
        if (error instanceof RayRefused) refusal = error
        else if (!(error instanceof RayUnreachable)) throw error
        else if (!error.sent && tries === 0) mayBeThere = false
        why = error.message
      }
      const sight = await this.#look()
      if ('job' in sight) return null
      if ('gone' in sight) mayBeThere = false
      if (refusal !== null && refusal.status < 500 && !('unreachable' in sight && mayBeThere && tries > 0)) {
        // A token can be mended while the run waits for its next attempt; a request that makes no sense to Ray never will.
        const more = refusal.status === 401 || refusal.status === 403 ? {} : { retryable: false }
        return { status: 'failed', error: ownError('RayRefused', refusal.message, more) }
      }
      if (performance.now() - startMs > timings.lostAfterMs) {
        if (mayBeThere) return { status: 'lost', reason: `it is not known whether Ray has the job: ${why}` }
        return { status: 'failed', error: ownError('RayUnreachable', `the job could not be placed: ${why}`) }
      }
      await this.#pause.wait(this.#backoffMs(tries))
    }
  }

  async #follow(): Promise<Outcome> {
    for (;;) {
      if (this.#left !== null) return { status: 'unreachable', reason: this.#left }
      const said = await this.#said()
      if (said) return said
      if (this.#abortReason !== null) return this.#stop()
      const outcome = await this.#judge(await this.#look())
      if (outcome) return outcome
      await this.#pause.wait(this.#nextLookMs())
    }
  }

  #nextLookMs(): number {
    const { timings } = this.#options
    if (this.#silentLooks > 0) return this.#backoffMs(this.#silentLooks)
    this.#quietLooks += 1
    return spread(Math.min(timings.pollMs, FIRST_POLL_MS * 1.5 ** Math.min(this.#quietLooks, 30)))
  }

  #backoffMs(tries: number): number {
    const { pollMs } = this.#options.timings
    return spread(Math.min(pollMs * SILENT_POLLS_MAX, Math.min(FIRST_POLL_MS, pollMs) * 2 ** Math.min(tries, 20)))
  }

  async #look(): Promise<Sight> {
    try {
      const job = await this.#client.job(this.#id)
      this.#silentLooks = 0
      if (job === null) return { gone: true }
      this.#seen = true
      this.#goneSinceMs = null
      this.#ticket ??= job.runtime_env?.env_vars?.HOLDFAST_TICKET ?? null
      return { job }
    } catch (error) {
      if (!(error instanceof RayUnreachable || error instanceof RayRefused)) throw error
      this.#silentLooks += 1
      if (this.#silentLooks === 1) this.#options.reports.log('warn', `${error.message}; asking again until it answers`)
      return { unreachable: error.message }
    }
  }

  async #judge(sight: Sight): Promise<Outcome | null> {
    if ('unreachable' in sight) return null
    if ('gone' in sight) return this.#judgeGone()
    const { job } = sight
    if (job.status === 'RUNNING') await this.#alive(job)
    const verdict = verdictOf(job, this.#isAlive)
    if (verdict.kind === 'going-on') {
      this.#doubtSinceMs = null
      if (job.status === 'RUNNING') await this.#log.follow()
      await this.#noteLogPlace()
      return null
    }
    if (verdict.kind === 'ended') return this.#ending(verdict.otherwise)
    this.#doubtSinceMs ??= performance.now()
    if (performance.now() - this.#doubtSinceMs < this.#options.timings.doubtMs) return null
    return this.#ending(verdict.otherwise)
  }

  async #judgeGone(): Promise<Outcome | null> {
    const { timings, ref } = this.#options
    const windowMs = this.#seen ? timings.lostAfterMs : Math.min(timings.lostAfterMs, NEVER_SEEN_MS)
    this.#goneSinceMs ??= performance.now()
    if (performance.now() - this.#goneSinceMs < windowMs) return null
    const session = await this.#session()
    const anew = session !== null && ref.session !== undefined && session !== ref.session
    return {
      status: 'lost',
      reason: anew ? 'the cluster was started anew and does not know the job' : 'Ray does not know the job any more',
    }
  }

  /** The job has ended by Ray's account: its own word, then its last line, then Ray's. Null: Ray could not be asked for the line. */
  async #ending(otherwise: Outcome): Promise<Outcome | null> {
    const said = await this.#said()
    if (said) return said
    if (this.#ticket === null) return otherwise
    try {
      return (await this.#log.outcome(this.#ticket)) ?? otherwise
    } catch (error) {
      if (!(error instanceof RayUnreachable || error instanceof RayRefused)) throw error
      this.#silentLooks += 1
      // The log is gone with its node while Ray still answers: there is nothing more to learn.
      return this.#silentLooks > 3 && error instanceof RayRefused ? otherwise : null
    }
  }

  async #alive(job: RayJob): Promise<void> {
    if (this.#isAlive) return
    this.#isAlive = true
    const { ref, reports } = this.#options
    const session = ref.session ?? (await this.#session())
    const better = { ...ref, ...(session && { session }), ...(job.driver_node_id && { node_id: job.driver_node_id }) }
    this.#options.ref = better as RayAttemptOptions['ref']
    // A sign of life that could not be noted is noted by the next.
    await reports.engine?.alive(better).catch(() => {
      this.#isAlive = false
    })
  }

  /** So that whoever adopts the job does not hand its whole log on again; seldom, because each note is a write. */
  async #noteLogPlace(): Promise<void> {
    const { ref, reports } = this.#options
    if (!this.#isAlive || this.#log.emitted === (ref.log_chars ?? 0)) return
    if (performance.now() - this.#notedAtMs < NOTE_LOG_EVERY_MS) return
    this.#notedAtMs = performance.now()
    this.#options.ref = { ...ref, log_chars: this.#log.emitted }
    await reports.engine?.alive(this.#options.ref).catch(() => {})
  }

  async #session(): Promise<string | null> {
    try {
      return (await this.#client.version()).session
    } catch {
      return null
    }
  }

  async #said(): Promise<Outcome | null> {
    // The store is asked again at the next look; until then nothing is decided.
    const said = (await this.#options.reports.engine?.jobOutcome().catch(() => null)) ?? null
    // A quick job has ended before it was seen running.
    if (said && !this.#isAlive) await this.#alive({ status: 'RUNNING' })
    return said
  }

  /** Asks Ray to stop the job and waits until it is gone. A success that came first stands, and so does what it cost. */
  async #stop(): Promise<Outcome> {
    const isTimeout = this.#abortReason === 'timeout'
    const end = await stopJob(this.#client, this.#id, {
      pause: this.#pause,
      withinMs: isTimeout ? this.#options.timings.timeoutGraceMs : null,
      isLeft: () => this.#left !== null,
    })
    if (end === 'left') return { status: 'unreachable', reason: this.#left ?? 'left' }
    const said = await this.#said()
    if (said?.status === 'succeeded') return said
    if (said?.status === 'failed' && said.cost !== undefined) this.#options.reports.cost?.(said.cost)
    if (end !== 'unconfirmed' && end !== 'gone' && end.status === 'SUCCEEDED') {
      return (await this.#ending(this.#aborted())) ?? this.#aborted()
    }
    return this.#aborted(end === 'unconfirmed' ? ', and Ray has not confirmed that it stopped' : '')
  }

  #aborted(detail = ''): Outcome {
    return abortedOutcome(this.#abortReason ?? 'cancelled', this.#options.input.timeoutMs, detail)
  }
}

function spread(ms: number): number {
  return ms * (0.75 + 0.5 * Math.random())
}
