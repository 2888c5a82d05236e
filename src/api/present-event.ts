/** How an event of the store looks on the wire. */

import type { EventObject } from '../contract/event.ts'
import { type RedactOptions, redact } from '../run/redaction.ts'
import type { RunEvent } from '../store/ports/feed.ts'

export type PresentEvent = (event: RunEvent) => EventObject

export function createPresentEvent(options: RedactOptions): PresentEvent {
  return (event) => ({
    run_id: event.runId,
    seq: event.seq,
    type: event.type,
    at: event.at.toISOString(),
    attempt: event.attempt,
    worker_id: event.workerId,
    status: event.status,
    message: event.message,
    data: redact(event.data ?? null, options),
  })
}
