/**
 * Places an attempt's Job, and with it the Secret that holds its program's ticket.
 *
 * The Job comes first and owns the Secret, so there is never a Secret that nobody cleans up. Until the Secret is there the pod cannot start its
 * container, and tries again by itself. A worker that dies in between leaves a Job that has begun nothing; whoever adopts it finds
 * a pod that lacks its Secret, and gives it a new ticket. The name of the Job follows from the attempt, so that asking twice makes one Job.
 */

import { randomBytes } from 'node:crypto'
import { ownError } from '../model/attempt-error.ts'
import { newTicket, SECRET_BYTES } from '../run/attempt-token.ts'
import type { AttemptInput, Outcome } from './executor.ts'
import type { KubernetesClient } from './kubernetes-client.ts'
import { KubernetesRefused, KubernetesUnreachable } from './kubernetes-http.ts'
import { isOf, ticketSecret } from './kubernetes-job.ts'
import type { Job } from './kubernetes-objects.ts'

export type PlacingOptions = {
  /** Null when the model is not known here, as may be after an adoption; then a Job that is not there cannot be made. */
  manifest: object | null
  /** Of a Job that an earlier holder of the lease may have placed, only its program knows the ticket. */
  ticket: string | null
  /** An earlier holder has seen it run. */
  wasSeen: boolean
  /** Commits the hash of a new ticket. */
  handOver: (ticketHash: Buffer) => Promise<void>
}

export class KubernetesPlacing {
  readonly #client: KubernetesClient
  readonly #input: AttemptInput
  readonly #at: { namespace: string; job: string }
  readonly #options: PlacingOptions
  #ticket: string | null
  #isDone: boolean
  #isSure: boolean
  #needsSecret: boolean
  #mayBeThere: boolean

  constructor(
    client: KubernetesClient,
    input: AttemptInput,
    at: { namespace: string; job: string },
    options: PlacingOptions,
  ) {
    this.#client = client
    this.#input = input
    this.#at = at
    this.#options = options
    this.#ticket = options.ticket
    this.#isDone = options.wasSeen
    // Somebody may have asked for the Job before: look before asking.
    this.#isSure = options.ticket !== null
    this.#mayBeThere = options.ticket === null
    this.#needsSecret = options.ticket !== null
  }

  get isDone(): boolean {
    return this.#isDone && !this.#needsSecret
  }

  get mayBeThere(): boolean {
    return this.#mayBeThere
  }

  get ticket(): string | null {
    return this.#ticket
  }

  /** Null when the Job is there with all it needs; an outcome when there will be none. Rejects when it is to be tried again. */
  async place(): Promise<Outcome | null> {
    const job = await this.#find()
    return job === null ? this.#create() : this.#taken(job)
  }

  /** For a pod that waits for a Secret which nobody here has made: the next `place` makes it, with a new ticket. */
  async renewTicket(): Promise<void> {
    if (this.#ticket !== null) return
    const { ticket, hash } = newTicket(randomBytes(SECRET_BYTES))
    await this.#options.handOver(hash)
    this.#ticket = ticket
    this.#needsSecret = true
  }

  async #find(): Promise<Job | null> {
    if (this.#isSure && !this.#isDone) return null
    const job = await this.#client.getJob(this.#at.namespace, this.#at.job)
    if (job === null) this.#isSure = true
    return job
  }

  async #create(): Promise<Outcome | null> {
    // It was there, and went before its Secret came: following it tells the rest.
    if (this.#isDone) {
      this.#needsSecret = false
      return null
    }
    const { manifest } = this.#options
    if (manifest === null) {
      const message = 'the Job was never made, and this worker does not know the model to make it from'
      return { status: 'lost', reason: message }
    }
    try {
      await this.renewTicket()
    } catch {
      // Its program has traded the ticket before, so there was a Job: it is not made a second time, and being gone for long makes it lost.
      this.#isDone = true
      return null
    }
    this.#isSure = false
    this.#mayBeThere = true
    try {
      return await this.#taken(await this.#client.createJob(this.#at.namespace, manifest))
    } catch (error) {
      if (!(error instanceof KubernetesRefused)) throw error
      if (error.status === 409) return this.#adoptExisting(error)
      this.#mayBeThere = false
      return refusedOutcome('Job', error)
    }
  }

  /** Somebody was faster, most likely an earlier request of ours whose reply was lost. */
  async #adoptExisting(error: KubernetesRefused): Promise<Outcome | null> {
    const job = error.reason === 'AlreadyExists' ? await this.#client.getJob(this.#at.namespace, this.#at.job) : null
    if (job === null) throw new KubernetesUnreachable(`the Job could not be made yet: ${error.message}`)
    return this.#taken(job)
  }

  async #taken(job: Job): Promise<Outcome | null> {
    if (!isOf(job, this.#input)) return this.#nameTaken()
    this.#isDone = true
    this.#mayBeThere = true
    if (!this.#needsSecret || this.#ticket === null) return null
    try {
      await this.#client.putSecret(this.#at.namespace, ticketSecret(job, this.#ticket))
    } catch (error) {
      if (error instanceof KubernetesRefused) return refusedOutcome('Secret', error)
      throw error
    }
    this.#needsSecret = false
    return null
  }

  #nameTaken(): Outcome {
    const { namespace, job } = this.#at
    this.#mayBeThere = false
    const message = `there is a Job ${namespace}/${job} that is not of this attempt; nothing was started`
    return { status: 'failed', error: ownError('JobNameTaken', message) }
  }
}

/** What is wrong with the object itself stays wrong; a quota or a missing right may change. */
function refusedOutcome(what: string, error: KubernetesRefused): Outcome {
  const isFinal = error.status === 422 || error.status === 400
  const message = `Kubernetes refused the ${what}: ${error.message}`
  return { status: 'failed', error: ownError(`${what}Refused`, message, isFinal ? { retryable: false } : {}) }
}
