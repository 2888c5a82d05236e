/** Batches: begun, read, listed, and followed until nothing of them is left to do. */

import { type FollowOptions, follow } from './follow.ts'
import { newUuid } from './idempotency-key.ts'
import { pages } from './list.ts'
import type { ServerEvent } from './sse.ts'
import type { CallOptions, Transport } from './transport.ts'
import type { Batch, BatchProgress, ListedBatch } from './wire-batches.ts'

export type Batches = ReturnType<typeof batchesOf>

export function batchesOf(transport: Transport) {
  const path = (batchId: string) => `/batches/${encodeURIComponent(batchId)}`

  return {
    /** With the id of a batch that this owner began before: that one. */
    async create(
      { title, batchId = newUuid() }: { title?: string | undefined; batchId?: string | undefined } = {},
      { signal, timeoutMs }: CallOptions = {},
    ): Promise<Batch> {
      const call = { method: 'POST', path: '/batches', repeat: 'always', signal, timeoutMs } as const
      return (await transport.send({ ...call, body: { title, batch_id: batchId } })).body as Batch
    },
    async get(batchId: string, { signal, timeoutMs }: CallOptions = {}): Promise<Batch> {
      const call = { method: 'GET', path: path(batchId), repeat: 'always', signal, timeoutMs } as const
      return (await transport.send(call)).body as Batch
    },
    /** Newest first. */
    list: ({ owner, ...options }: CallOptions & { owner?: string } = {}) =>
      pages<ListedBatch>(transport, '/batches', { owner }, options),
    /**
     * Its progress now and whenever it has changed, until it is finished; resumes by itself. Hand everything in first: a batch whose first
     * file is done before the second has come is finished for a moment.
     */
    watch: (batchId: string, options: FollowOptions = {}) => watchBatch(transport, `${path(batchId)}/events`, options),
  }
}

async function* watchBatch(
  transport: Transport,
  path: string,
  options: FollowOptions,
): AsyncGenerator<BatchProgress, void, void> {
  async function poll() {
    const { signal, timeoutMs } = options
    const { body } = await transport.send({ method: 'GET', path, repeat: 'always', signal, timeoutMs })
    const messages: ServerEvent[] = [{ id: null, event: 'progress', data: JSON.stringify(body) }]
    return { messages, lastId: null }
  }
  let seen = ''
  for await (const { event, data } of follow(transport, { path, poll }, options)) {
    // After a reconnect the progress comes again, changed or not.
    if (event !== 'progress' || data === seen) continue
    seen = data
    const progress = JSON.parse(data) as BatchProgress
    yield progress
    if (progress.finished) return
  }
}
