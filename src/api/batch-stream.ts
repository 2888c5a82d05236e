/**
 * The progress of a batch as a stream: a `progress` message with the counts as they are, another whenever they are others,
 * and a `completed` one, behind which the stream ends, when nothing is left to do. Messages replace each other, so whoever
 * comes back needs no message that was missed.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Batch, BatchCounts } from '../store/ports/batches.ts'
import type { BatchFollower } from './batch-follower.ts'
import { type EventStream, type EventStreams, frameOf } from './event-stream.ts'
import { batchProgress, isFinished, placeOf } from './present-batch.ts'

/** Answers false when there is nothing to stream: the batch is finished and the caller has seen so. */
export async function streamBatch(
  { batchFollower, streams }: { batchFollower: BatchFollower; streams: EventStreams },
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  batch: Batch,
): Promise<boolean> {
  let stream: EventStream | null = null

  function send(counts: BatchCounts): void {
    const id = placeOf(counts)
    const text = JSON.stringify(batchProgress(batch.id, counts))
    stream?.send(frameOf({ id, event: 'progress', text }))
    if (!isFinished(counts)) return
    stream?.send(frameOf({ id, event: 'completed', text }))
    stream?.end()
  }

  const { counts, close } = await batchFollower.listen(batch, send)
  if (isFinished(counts) && request.headers['last-event-id'] === placeOf(counts)) {
    close()
    return false
  }
  stream = streams.open(request, reply)
  stream.onClose(close)
  send(counts)
  return true
}
