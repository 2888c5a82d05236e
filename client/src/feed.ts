/**
 * The events of all runs the caller may see, as they are committed. Each comes once, whatever restarts lie between, but for what follows a
 * restore of the database: then some come again with the same `run_id` and `seq`.
 */

import { HoldfastError } from './errors.ts'
import type { RunEvent } from './events.ts'
import { type FollowOptions, follow } from './follow.ts'
import type { ServerEvent } from './sse.ts'
import type { Answer, Query, Transport } from './transport.ts'

/** The largest page. */
const PAGE_SIZE = 1_000

type OneOrMore<Value> = Value | readonly Value[]

/** Several values of a name mean any of them, different names all of them. */
export type FeedFilter = {
  owner?: OneOrMore<string>
  model?: OneOrMore<string>
  queue?: OneOrMore<string>
  type?: OneOrMore<string>
}

export type FeedOptions = FollowOptions & {
  /** A place in the feed, as `onPlace` told it; without one the feed begins now. */
  after?: string
  /** Called with the place behind an event once the caller has come back for the next. */
  onPlace?: (place: string) => void
}

export async function* followFeed(
  transport: Transport,
  filter: FeedFilter,
  { after, onPlace, ...options }: FeedOptions,
): AsyncGenerator<RunEvent, void, void> {
  const { signal, timeoutMs } = options
  const query: Query = { ...filter }

  async function poll(lastId: string | null) {
    const page = { ...query, after: lastId, limit: PAGE_SIZE }
    const call = { method: 'GET', path: '/events', repeat: 'always', signal, timeoutMs } as const
    const { data, next_cursor: next } = await transport.send({ ...call, query: page }).then(pageIn, resumed)
    const messages = data.map((event, index): ServerEvent => {
      return { id: index === data.length - 1 ? next : null, event: 'message', data: JSON.stringify(event) }
    })
    return { messages, lastId: next }
  }

  const followed = { path: '/events', query, lastId: after ?? null, poll }
  for await (const { id, event, data } of follow(transport, followed, options)) {
    // The message that the place was lost, and what a later service may add, are no events of runs.
    if (event === 'message') yield JSON.parse(data) as RunEvent
    if (id !== null) onPlace?.(id)
  }
}

type FeedPage = { data: RunEvent[]; next_cursor: string }

const pageIn = ({ body }: Answer) => body as FeedPage

/** A database that was restored does not know the place, and says where to go on instead. */
function resumed(fault: unknown): FeedPage {
  const next = fault instanceof HoldfastError && fault.code === 'cursor-lost' ? fault.problem?.resume_after : null
  if (typeof next !== 'string') throw fault
  return { data: [], next_cursor: next }
}
