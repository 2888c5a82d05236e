/** What the attempts of a run printed: from the record, and as it is printed. */

import { type FollowOptions, follow } from './follow.ts'
import type { ServerEvent } from './sse.ts'
import type { CallOptions, Transport } from './transport.ts'
import type { LogPiece, Page, Run } from './wire.ts'

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

export type FollowLogsOptions = FollowOptions & Pick<LogsOptions, 'attempt' | 'after'>

/**
 * What was printed so far and then each piece as it comes, until the run has ended and all of it was told; resumed by itself. The stream
 * is that of all attempts, so that its end is seen, and those not asked for are dropped here.
 */
export async function* followLogs(
  transport: Transport,
  runId: string,
  { attempt, after = 0, ...options }: FollowLogsOptions = {},
): AsyncGenerator<LogPiece, void, void> {
  const { signal, timeoutMs } = options
  const path = `/runs/${encodeURIComponent(runId)}/logs`
  const get = { method: 'GET', repeat: 'always', signal, timeoutMs } as const

  const pageBehind = async (last: string | null) => {
    const { body } = await transport.send({ ...get, path, query: { after: last, limit: PAGE_SIZE } })
    return (body as Page<LogPiece>).data
  }

  async function poll(lastId: string | null) {
    let data = await pageBehind(lastId)
    let isOver = false
    if (data.length === 0) {
      const { body } = await transport.send({ ...get, path: `/runs/${encodeURIComponent(runId)}` })
      // What was printed last may have come after the page that held nothing.
      if ((body as Run).finished_at !== null) data = await pageBehind(lastId)
      isOver = (body as Run).finished_at !== null && data.length === 0
    }
    const messages = data.map(
      (piece): ServerEvent => ({ id: String(piece.no), event: 'message', data: JSON.stringify(piece) }),
    )
    return { messages, lastId: messages.at(-1)?.id ?? lastId, isOver }
  }

  let last = after
  const followed = { path, lastId: after > 0 ? String(after) : null, poll, endsWith204: true }
  for await (const { event, data } of follow(transport, followed, options)) {
    if (event !== 'message') continue
    const piece = JSON.parse(data) as LogPiece
    if (piece.no <= last) continue
    last = piece.no
    if (attempt === undefined || piece.attempt === attempt) yield piece
  }
}
