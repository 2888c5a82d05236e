/** What happened to a run, from the record. */

import type { CallOptions, Transport } from './transport.ts'
import type { Page, RunStatus } from './wire.ts'

/** The largest page. */
const PAGE_SIZE = 1_000

export type RunEvent = {
  run_id: string
  /** 1, 2, 3, … without gaps. */
  seq: number
  type: string
  at: string
  attempt: number | null
  worker_id: string | null
  /** The state of the run after it. */
  status: RunStatus | null
  message: string | null
  data: unknown
}

export type EventsOptions = CallOptions & { after?: number }

export async function eventPage(
  transport: Transport,
  runId: string,
  { after = 0, signal, timeoutMs }: EventsOptions,
): Promise<Page<RunEvent>> {
  const query = { after, limit: PAGE_SIZE }
  const path = `/runs/${encodeURIComponent(runId)}/events`
  const { body } = await transport.send({ method: 'GET', path, query, repeat: 'always', signal, timeoutMs })
  return body as Page<RunEvent>
}

/** All of them up to now. */
export async function* allEvents(
  transport: Transport,
  runId: string,
  options: EventsOptions = {},
): AsyncGenerator<RunEvent, void, void> {
  let after = options.after ?? 0
  for (;;) {
    const { data, next_cursor } = await eventPage(transport, runId, { ...options, after })
    yield* data
    after = data.at(-1)?.seq ?? after
    if (next_cursor === null || data.length === 0) return
  }
}
