/** Runs over HTTP, as a client outside sees them. */

import type { RunObject } from '../../src/contract/run.ts'
import { until } from './until.ts'

export type Answer = { status: number; run: RunObject }

/** Each call is a request of its own: equal payloads are not merged unless a key says so. */
export async function postRun(url: string, model: string, parameters: object, key?: string): Promise<Answer> {
  const response = await fetch(`${url}/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) },
    body: JSON.stringify(key ? { model, parameters } : { model, parameters, dedupe: 'off' }),
  })
  return { status: response.status, run: (await response.json()) as RunObject }
}

export async function getRun(url: string, runId: string): Promise<RunObject> {
  return (await (await fetch(`${url}/runs/${runId}`)).json()) as RunObject
}

export function runEnds(url: string, runId: string): Promise<RunObject> {
  return until(
    async () => {
      const run = await getRun(url, runId)
      return run.finished_at && run
    },
    { what: `run ${runId} has ended`, timeoutMs: 30_000 },
  )
}
