/** Waiting for the end of a run, by requests that the service holds until there is something to say. */

import { RunCancelled, RunFailed, Timeout } from './errors.ts'
import type { CallOptions, Transport } from './transport.ts'
import type { Run } from './wire.ts'

/** The service holds a request no longer than this. */
const HELD_SECONDS_MAX = 60
/** A service that does not hold requests is not asked more often. */
const POLL_MS = 1_000

export type WaitOptions = CallOptions & {
  /** For the end of the run; without it as long as it takes. The run goes on when the wait ends. */
  waitMs?: number | undefined
}

/** `Prefer: wait`, such that the answer still comes well before the request times out. */
export function preferWait(
  transport: Transport,
  timeoutMs: number | undefined,
  leftMs: number,
): Record<string, string> {
  const heldMs = Math.min(leftMs, (timeoutMs ?? transport.connection.timeoutMs) / 2)
  const seconds = Math.min(HELD_SECONDS_MAX, Math.floor(heldMs / 1000))
  return seconds >= 1 ? { Prefer: `wait=${seconds}` } : {}
}

/** The run as it ended; `known` is what the caller has seen of it. Timeout when it has not ended in time. */
export async function endOf(
  transport: Transport,
  runId: string,
  options: WaitOptions & { known?: Run; key?: string; sinceMs?: number },
): Promise<Run> {
  const { signal, timeoutMs, waitMs = Number.POSITIVE_INFINITY } = options
  const { clock } = transport
  const deadlineMs = (options.sinceMs ?? clock.nowMs()) + waitMs
  let run = options.known
  while (!run?.finished_at) {
    const askedMs = clock.nowMs()
    if (run && askedMs >= deadlineMs) throw stillGoing(run, waitMs, options.key)
    const headers = preferWait(transport, timeoutMs, deadlineMs - askedMs)
    const path = `/runs/${encodeURIComponent(runId)}`
    run = (await transport.send({ method: 'GET', path, headers, repeat: 'always', signal, timeoutMs })).body as Run
    const restMs = POLL_MS - (clock.nowMs() - askedMs)
    if (!run.finished_at && restMs > 0) await clock.sleep(Math.min(restMs, Math.max(0, deadlineMs - askedMs)), signal)
  }
  return run
}

/** Throws unless it succeeded. */
export function requireSuccess(run: Run): Run {
  const { run_id: runId, status, last_error: error } = run
  if (status === 'CANCELLED') {
    throw new RunCancelled(`run ${runId} was cancelled`, { code: 'run-cancelled', runId, run })
  }
  if (status === 'FAILED') {
    const why = error ? `: ${error.class}: ${error.message} (attempt ${error.attempt})` : ''
    throw new RunFailed(`run ${runId} failed${why}`, { code: 'run-failed', runId, run })
  }
  return run
}

function stillGoing({ run_id: runId, status }: Run, waitMs: number, key: string | undefined): Timeout {
  const again = key === undefined ? 'ask again with its id' : `ask again with key ${key}`
  const message = `run ${runId} is still ${status} after ${waitMs / 1000} s and goes on: ${again}`
  return new Timeout(message, { attempts: 1, runId, key: key ?? null })
}
