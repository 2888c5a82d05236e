/** What tests of the whole system do with runs all the time: submit one, wait for it, look at its history. */

import type { RunStatus } from '../../src/run/status.ts'
import type { Run, RunDetail } from '../../src/store/store.ts'
import type { TestApi } from './api.ts'
import { until } from './until.ts'

export type RunVerbs = {
  /** Submits and answers the id of the new run. */
  submit(model: string, parameters?: object, more?: object): Promise<string>
  read(runId: string): Promise<RunDetail>
  /** Waits until the run is in one of the states. */
  reaches(runId: string, ...statuses: RunStatus[]): Promise<Run>
  resultOf(runId: string): Promise<unknown>
  /** The states of its attempts, in order. */
  attemptStates(runId: string): Promise<string[]>
  events(runId: string): Promise<string[]>
}

export function runVerbs(api: TestApi, timeoutMs = 20_000): RunVerbs {
  async function read(runId: string): Promise<RunDetail> {
    const detail = await api.store.readRun(runId)
    if (!detail) throw new Error(`there is no run ${runId}`)
    return detail
  }
  return {
    async submit(model, parameters = {}, more = {}) {
      return (await api.create({ model, parameters, dedupe: 'off', ...more })).run_id
    },
    read,
    reaches: (runId, ...statuses) =>
      until(
        async () => {
          const { run } = await read(runId)
          if (run.finishedAt && !statuses.includes(run.status)) {
            throw new Error(`run ${runId} ended ${run.status}: ${run.lastError?.class} ${run.lastError?.message}`)
          }
          return statuses.includes(run.status) && run
        },
        { what: `run ${runId} is ${statuses.join(' or ')}`, timeoutMs },
      ),
    resultOf: async (runId) => (await api.get(`/runs/${runId}/result`)).json(),
    attemptStates: async (runId) => (await read(runId)).attempts.map(({ state }) => state),
    async events(runId) {
      const sql = 'SELECT type FROM run_events WHERE run_id = $1 ORDER BY seq'
      return (await api.db.query<{ type: string }>(sql, [runId])).map(({ type }) => type)
    },
  }
}
