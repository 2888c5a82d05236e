/**
 * The sendings of one channel: claims what is due as long as there is room, sends each by itself and settles them in batches. Channels have
 * lanes of their own, so that a mail server that does not answer takes no place from webhooks.
 *
 * A place is free again when its delivery is settled, not when it is sent: while the database does not answer nothing more is claimed. A
 * delivery is sent only while its lease is sure to outlast the sending; otherwise it is left to whoever claims it next.
 */

import type { ClaimedDelivery, Deliveries, Sent } from '../store/ports/deliveries.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { createHeardFailures, type HeardFailures } from './heard-failures.ts'
import { sendOne } from './send-one.ts'
import type { Sender } from './sender.ts'
import { SettleBatches, type SettleEnd } from './settle-batches.ts'

export type LaneSettings = {
  /** Sendings of this lane at once. */
  sendsMax: number
  leaseMs: number
  sendTimeoutMs: number
  delaysSeconds: readonly number[]
}

export type LaneDeps = {
  deliveries: Pick<Deliveries, 'claim' | 'settle' | 'find'>
  ping: () => Promise<void>
  sender: Sender
  settings: LaneSettings
  /** Aborted when the relay must end now. */
  stopping: AbortSignal
  /** Places are free again. */
  onRoom: () => void
  log: Log
  metrics: Pick<Metrics, 'deliveryAttempts' | 'deliveryDuration'>
  random?: () => number
  nowMs?: () => number
}

/** More than this in one statement gains nothing and holds its locks longer. */
const CLAIM_MAX = 200

export class SendLane {
  readonly #deps: LaneDeps
  readonly #settles: SettleBatches
  readonly #heardFailures: HeardFailures
  #inFlight = 0
  #onIdle: (() => void)[] = []

  constructor(deps: LaneDeps) {
    this.#deps = deps
    const { deliveries, ping, log, sender } = deps
    this.#heardFailures = createHeardFailures(deliveries)
    this.#settles = new SettleBatches({
      settle: (sent) => deliveries.settle(sent),
      ping,
      onFailure: (error) =>
        log.warn({ err: error, channel: sender.channel }, 'deliveries could not be settled; trying again'),
    })
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** One tick of its loop. */
  async claim(): Promise<'again' | 'wait'> {
    const { deliveries, sender, settings, nowMs = () => performance.now() } = this.#deps
    const limit = Math.min(CLAIM_MAX, settings.sendsMax - this.#inFlight)
    if (limit <= 0) return 'wait'
    const askedAtMs = nowMs()
    const claimed = await deliveries.claim({ limit, leaseMs: settings.leaseMs, channels: [sender.channel] })
    const leftMs = settings.leaseMs - (nowMs() - askedAtMs)
    if (claimed.length > 0 && leftMs < settings.sendTimeoutMs) {
      this.#deps.log.warn(
        { channel: sender.channel, deliveries: claimed.length },
        'a claim was answered too late to send what it took; it is due again when its lease is over',
      )
      return 'wait'
    }
    for (const delivery of claimed) void this.#send(delivery)
    return claimed.length === limit ? 'again' : 'wait'
  }

  /** Resolves when nothing is being sent or settled. */
  idle(): Promise<void> {
    return this.#inFlight === 0 ? Promise.resolve() : new Promise((resolve) => this.#onIdle.push(resolve))
  }

  giveUpSettling(): void {
    this.#settles.giveUp()
  }

  async #send(delivery: ClaimedDelivery): Promise<void> {
    const { sender, settings, stopping, random } = this.#deps
    this.#inFlight += 1
    const sent = await sendOne(delivery, {
      sender,
      timeoutMs: settings.sendTimeoutMs,
      stopping,
      delaysSeconds: settings.delaysSeconds,
      heardFailures: this.#heardFailures,
      ...(random && { random }),
    })
    const how = await this.#settles.add(sent)
    this.#tell(delivery, sent, how)
    this.#inFlight -= 1
    this.#deps.onRoom()
    if (this.#inFlight > 0) return
    for (const resolve of this.#onIdle) resolve()
    this.#onIdle = []
  }

  #tell(delivery: ClaimedDelivery, sent: Sent, how: SettleEnd): void {
    const { metrics, log } = this.#deps
    metrics.deliveryAttempts.inc(delivery.channel, how === 'settled' ? sent.outcome : 'late')
    metrics.deliveryDuration.observe(delivery.channel, sent.durationMs / 1_000)
    const fields = {
      delivery_id: delivery.id,
      message_id: delivery.messageId,
      receiver_id: delivery.receiverId,
      channel: delivery.channel,
      kind: delivery.kind,
      tries: delivery.tries + 1,
      duration_ms: Math.round(sent.durationMs),
      ...(sent.error !== null && { error: sent.error }),
    }
    if (how !== 'settled')
      log.warn(fields, 'how a delivery went came too late to be settled, or had been settled already')
    else if (sent.outcome === 'delivered') log.debug(fields, 'delivered')
    else if (sent.outcome === 'again') {
      log.info({ ...fields, delay_seconds: (sent.delayMs ?? 0) / 1_000 }, 'a delivery failed; it is tried again')
    } else if (sent.outcome === 'dead')
      log.error(fields, 'a delivery was given up; redeliver it when the cause is mended')
    else log.warn(fields, 'a receiver is gone: it was disabled and its delivery dropped')
  }
}
