/**
 * The port for wake-ups: hints that there may be work. A hint is never a fact.
 *
 * A topic is `queue:<name>` (there may be something to claim), `worker:<id>` (look at your leases: a cancel was
 * requested) or `keys` (a run asks for a concurrency key: runs that end may have to give a place away). Losing every hint costs latency and nothing else, so nothing here throws to its caller: failures are
 * logged and retried. A hint reaches the subscribers of its own process at once, and at least one subscriber
 * elsewhere when the transport is up; it may come twice and it may come late.
 */

export type Topic = `queue:${string}` | `worker:${string}` | 'keys'

export interface Wakeup {
  readonly name: string
  /** Fire and forget, after commit. Hints to one topic that arrive while a sending is under way become one. */
  hint(topic: Topic, runId: string): void
  /**
   * Calls back on each hint for one of the topics, and once per topic after a (re)connect, when hints may have been
   * missed. Resolves once it listens, or after a moment when the transport is down; it goes on trying underneath.
   */
  subscribe(topics: readonly Topic[], onHint: (topic: Topic) => void): Promise<Subscription>
  /** Rejects when the transport cannot be reached; for health checks only. */
  ping(): Promise<void>
  close(): Promise<void>
}

export interface Subscription {
  close(): Promise<void>
}

/** The two lines an outage is worth: one when it begins, one when it ends. A pino logger fits. */
export type WakeupLog = {
  warn(fields: object, message: string): void
  info(fields: object, message: string): void
}
