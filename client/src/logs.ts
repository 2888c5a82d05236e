/** What the attempts of a run printed, from the record. */

import type { CallOptions, Transport } from './transport.ts'
import type { LogPiece, Page } from './wire.ts'

/** The largest page. */
const PAGE_SIZE = 1_000

export type LogsOptions = CallOptions & {
  /** Only what this attempt printed. */
  attempt?: number
  /** Only pieces with higher numbers. */
  after?: number
}

/** All of it up to now, in the order in which it was printed. */
export async function* allLogs(
  transport: Transport,
  runId: string,
  { attempt, after = 0, signal, timeoutMs }: LogsOptions = {},
): AsyncGenerator<LogPiece, void, void> {
  const path = `/runs/${encodeURIComponent(runId)}/logs`
  for (let last = after; ; ) {
    const query = { attempt, after: last, limit: PAGE_SIZE }
    const { body } = await transport.send({ method: 'GET', path, query, repeat: 'always', signal, timeoutMs })
    const { data, next_cursor } = body as Page<LogPiece>
    yield* data
    last = data.at(-1)?.no ?? last
    if (next_cursor === null || data.length === 0) return
  }
}
