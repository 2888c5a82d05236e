/**
 * The relay: takes facts out of the outbox to whoever wants to hear of them.
 *
 * It only joins ports: one loop spreads facts into deliveries, one for each channel claims, sends and settles them, one looks at batches
 * that may be finished, one forgets what is old. Any number of relays may run; what one has taken the others skip. What happens when a relay
 * dies: a fact is spread in one transaction or not at all; a delivery that was claimed is due again when its lease is over, and is sent
 * again under the same id. Stopping gracefully: no more claims, what is being sent may end within the grace, the rest is broken off and
 * given back.
 */

import type { Deliveries } from '../store/ports/deliveries.ts'
import type { Outbox } from '../store/ports/outbox.ts'
import type { Channel } from '../store/ports/receivers.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Loop } from '../worker/loop.ts'
import { watchedLoop } from '../worker/watched-loop.ts'
import { type LaneSettings, SendLane } from './send-lane.ts'
import type { Sender } from './sender.ts'

export type RelaySettings = Omit<LaneSettings, 'sendsMax'> & {
  /** Sendings at once, of each channel. */
  sendsMax: number
  /** How often it is looked for facts and deliveries when nothing is known to be there. */
  pollMs: number
  shutdownGraceMs: number
  /** How long spread facts and finished deliveries are kept; null for ever. */
  keepDays: number | null
}

export type RelayDeps = {
  id: string
  store: {
    outbox: Pick<Outbox, 'spread' | 'watchBatches' | 'forget'>
    deliveries: Pick<Deliveries, 'claim' | 'settle' | 'find'>
    ping(): Promise<void>
  }
  senders: readonly Sender[]
  settings: RelaySettings
  log: Log
  metrics: Metrics
  random?: () => number
}

const SPREAD_MAX = 500
const WATCH_MAX = 100
const FORGET_EVERY_MS = 600_000
/** What is broken off gets so long to end and to be given back. */
const GIVE_BACK_MS = 5_000

export class Relay {
  readonly #deps: RelayDeps
  readonly #stopping = new AbortController()
  readonly #lanes: { lane: SendLane; loop: Loop }[]
  readonly #spreading: Loop
  readonly #others: Loop[]
  #stopped: Promise<void> | null = null

  constructor(deps: RelayDeps) {
    this.#deps = deps
    const { settings, metrics } = deps
    this.#lanes = deps.senders.map((sender) => this.#laneOf(sender))
    this.#spreading = this.#loop('spread', settings.pollMs, () => this.#spread())
    this.#others = [this.#loop('watch', settings.pollMs, () => this.#watch())]
    const { keepDays } = settings
    if (keepDays !== null) this.#others.push(this.#loop('forget', FORGET_EVERY_MS, () => this.#forget(keepDays)))
    metrics.onDeliveriesInFlight(() => this.sending)
  }

  get sending(): number {
    return this.#lanes.reduce((sum, { lane }) => sum + lane.inFlight, 0)
  }

  start(): void {
    const { id, senders, log } = this.#deps
    for (const loop of this.#loops()) loop.start()
    log.info({ relay_id: id, channels: senders.map(({ channel }): Channel => channel) }, 'relay started')
  }

  /** Calling it again changes nothing. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop(): Promise<void> {
    const { id, log, senders, settings } = this.#deps
    log.info({ relay_id: id, sending: this.sending }, 'relay stopping: no more claims')
    const loopsEnded = Promise.all(this.#loops().map((loop) => loop.stop()))
    const ended = loopsEnded.then(() => Promise.all(this.#lanes.map(({ lane }) => lane.idle())))
    if (!(await endedWithin(ended, settings.shutdownGraceMs))) {
      this.#stopping.abort()
      for (const { lane } of this.#lanes) lane.giveUpSettling()
      if (!(await endedWithin(ended, GIVE_BACK_MS))) {
        log.warn(
          { relay_id: id, sending: this.sending },
          'some deliveries could not be given back; their leases will lapse',
        )
      }
    }
    await Promise.allSettled(senders.map((sender) => sender.close()))
    log.info({ relay_id: id }, 'relay stopped')
  }

  async #spread(): Promise<'again' | 'wait'> {
    const { store, metrics, log, id } = this.#deps
    const { facts, deliveries, broken = 0, isMore } = await store.outbox.spread(SPREAD_MAX)
    metrics.factsSpread.inc(facts)
    if (broken > 0)
      log.error({ relay_id: id, facts: broken }, 'facts could not be spread; they were set aside with the reason')
    if (deliveries > 0) for (const { loop } of this.#lanes) loop.wake()
    return isMore ? 'again' : 'wait'
  }

  async #watch(): Promise<'again' | 'wait'> {
    const looked = await this.#deps.store.outbox.watchBatches(WATCH_MAX)
    if (looked > 0) this.#spreading.wake()
    return looked === WATCH_MAX ? 'again' : 'wait'
  }

  async #forget(keepDays: number): Promise<'again' | 'wait'> {
    return (await this.#deps.store.outbox.forget(keepDays)) ? 'again' : 'wait'
  }

  #laneOf(sender: Sender): { lane: SendLane; loop: Loop } {
    const { store, settings, log, metrics, random } = this.#deps
    const lane = new SendLane({
      deliveries: store.deliveries,
      ping: () => store.ping(),
      sender,
      settings: { ...settings, sendsMax: Math.min(settings.sendsMax, sender.sendsMax ?? settings.sendsMax) },
      stopping: this.#stopping.signal,
      onRoom: () => loop.wake(),
      log,
      metrics,
      ...(random && { random }),
    })
    const loop = this.#loop(`send-${sender.channel}`, settings.pollMs, () => lane.claim())
    return { lane, loop }
  }

  #loop(name: string, everyMs: number, tick: () => Promise<'again' | 'wait'>): Loop {
    const { metrics, log, id } = this.#deps
    return watchedLoop({ name, everyMs, tick }, { metrics, log, workerId: id })
  }

  #loops(): Loop[] {
    return [this.#spreading, ...this.#lanes.map(({ loop }) => loop), ...this.#others]
  }
}

async function endedWithin(ended: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  return Promise.race([ended.then(() => true), late]).finally(() => clearTimeout(timer))
}
