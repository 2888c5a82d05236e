/** graphile-worker as its documentation tunes it for throughput: a local queue of 500 and batched completions. */

import { makeWorkerUtils, run, runMigrations } from 'graphile-worker'
import pg from 'pg'
import type { Contender } from './contender.ts'

const CONCURRENCY = 24
const CALLERS = 20

export const contender: Contender = {
  name: 'graphile-worker',
  settings:
    `localQueue.size 500, completeJobBatchDelay 0, failJobBatchDelay 0, concurrentJobs ${CONCURRENCY}, ` +
    `maxPoolSize ${CONCURRENCY + 1} (its documented tuning); no log of successes`,

  async install({ url }) {
    await runMigrations({ connectionString: url })
  },

  async openProducer({ url }) {
    const pgPool = new pg.Pool({ connectionString: url, max: CALLERS, idleTimeoutMillis: 0 })
    // Without listeners it prints a warning.
    pgPool.on('error', () => {})
    pgPool.on('connect', (client) => client.on('error', () => {}))
    const jobs = await makeWorkerUtils({ pgPool })
    return {
      submit: async (n) => void (await jobs.addJob('noop', { n })),
      submitMany: async (numbers) =>
        void (await jobs.addJobs(numbers.map((n) => ({ identifier: 'noop', payload: { n } })))),
      async close() {
        await jobs.release()
        await pgPool.end()
      },
    }
  },

  async startWorker({ url }, _aim, hooks) {
    const runner = await run({
      preset: {
        worker: {
          connectionString: url,
          concurrentJobs: CONCURRENCY,
          maxPoolSize: CONCURRENCY + 1,
          localQueue: { size: 500 },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
        },
      },
      parsedCronItems: [],
      taskList: {
        noop(payload) {
          hooks.onStart((payload as { n: number }).n)
          hooks.onDone()
        },
      },
    })
    runner.promise.catch((error) => {
      throw error
    })
  },

  drainedQuery: 'SELECT NOT EXISTS (SELECT FROM graphile_worker._private_jobs)',
}
