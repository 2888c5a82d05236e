/** Deliveries as they are answered. What was sent and answered may hold anything, so it is redacted like everything else. */

import type { DeliveryAttemptObject, DeliveryDetailObject, DeliveryObject } from '../contract/delivery.ts'
import { type RedactOptions, redact } from '../run/redaction.ts'
import type { Delivery, DeliveryAttempt } from '../store/ports/deliveries.ts'

/** The mail of a delivery. Throws when it cannot be written. */
export type ShowMail = (delivery: Delivery) => DeliveryDetailObject['mail']

export function presentDelivery(delivery: Delivery): DeliveryObject {
  const { id, state, finishedAt } = delivery
  return {
    delivery_id: id,
    receiver_id: delivery.receiverId,
    channel: delivery.channel,
    owner: delivery.owner,
    kind: delivery.kind,
    message_id: delivery.messageId,
    state,
    created_at: delivery.createdAt.toISOString(),
    next_attempt_at: state === 'PENDING' ? delivery.availableAt.toISOString() : null,
    attempt_count: delivery.attempts,
    finished_at: finishedAt?.toISOString() ?? null,
    last_error: delivery.lastError,
    links: { self: `/deliveries/${id}` },
  }
}

export function presentDeliveryDetail(
  { delivery, attempts }: { delivery: Delivery; attempts: readonly DeliveryAttempt[] },
  { options, showMail }: { options: RedactOptions; showMail: ShowMail | undefined },
): DeliveryDetailObject {
  const shown = { ...delivery, data: redact(delivery.data ?? null, options) }
  return {
    ...presentDelivery(delivery),
    data: shown.data,
    attempts: attempts.map((attempt) => presentAttempt(attempt, options)),
    mail: delivery.channel === 'mail' ? mailOf(shown, showMail) : null,
  }
}

/** One that cannot be written, such as for what is hidden in it, is not shown. */
function mailOf(delivery: Delivery, showMail: ShowMail | undefined): DeliveryDetailObject['mail'] {
  try {
    return showMail?.(delivery) ?? null
  } catch {
    return null
  }
}

function presentAttempt(attempt: DeliveryAttempt, options: RedactOptions): DeliveryAttemptObject {
  return {
    attempt: attempt.attempt,
    started_at: attempt.startedAt.toISOString(),
    duration_ms: attempt.durationMs,
    request: redact(attempt.request ?? null, options),
    response: redact(attempt.response ?? null, options),
    error: attempt.error,
  }
}
