/**
 * What the routes about events share: one follower, the open streams and the waiting requests of this process, and
 * their end.
 */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ApiDeps } from './api.ts'
import { type BatchFollower, createBatchFollower } from './batch-follower.ts'
import { type BatchWaits, createBatchWaits } from './batch-wait.ts'
import { createEventStreams, type EventStreams } from './event-stream.ts'
import { createFeedFollower, type FeedFollower } from './feed-follower.ts'
import { createLogFollower, type LogFollower } from './log-follower.ts'
import { createLogReader } from './log-reader.ts'
import { createRunWaits, type RunWaits } from './prefer-wait.ts'
import { createPresentEvent, type PresentEvent } from './present-event.ts'
import { redactOptionsOf } from './redact-options.ts'

export type Events = {
  follower: FeedFollower
  logFollower: LogFollower
  batchFollower: BatchFollower
  streams: EventStreams
  waits: RunWaits
  batchWaits: BatchWaits
  present: PresentEvent
}

/** Workers write about once a second. */
const LOG_POLL_MS_MIN = 250

const DEFAULTS = { pollMs: 100, batchPollMs: 1_000, heartbeatMs: 15_000, bufferBytesMax: 1_048_576 }

/** Streams end and waiting requests are answered before the listener closes: it would wait for them. */
export function createEvents(
  app: FastifyInstance,
  { store, blob, log, config }: ApiDeps,
  isStillAllowed: (request: FastifyRequest) => Promise<boolean> | boolean,
): Events {
  const settings = { ...DEFAULTS, ...config.events }
  const present = createPresentEvent(redactOptionsOf(config))
  const render = (event: Parameters<PresentEvent>[0]) => JSON.stringify(present(event))
  const follower = createFeedFollower({ feed: store.feed, log, pollMs: settings.pollMs, render })
  const logFollower = createLogFollower({
    logs: createLogReader({ logs: store.attemptLogs, blob, log }),
    log,
    pollMs: Math.max(LOG_POLL_MS_MIN, settings.pollMs),
  })
  const streams = createEventStreams({ ...settings, isStillAllowed, log })
  const waits = createRunWaits({ store, follower, log })
  const batchFollower = createBatchFollower({ batches: store.batches, log, pollMs: settings.batchPollMs })
  const batchWaits = createBatchWaits({ follower: batchFollower, log })
  app.addHook('preClose', async () => {
    waits.close()
    batchWaits.close()
    streams.close()
    await Promise.all([follower.close(), logFollower.close(), batchFollower.close()])
  })
  return { follower, logFollower, batchFollower, streams, waits, batchWaits, present }
}
