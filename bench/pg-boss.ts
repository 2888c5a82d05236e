/**
 * pg-boss with batches of 500. Its switch for NOTIFY makes starts quick and submits slower, so only the latency
 * measurement uses it.
 */

import { PgBoss } from 'pg-boss'
import type { Aim, Contender, Place } from './contender.ts'

const BATCH = 500
const LOOPS = 4
const CALLERS = 20
const QUEUES: Record<Aim, string> = { throughput: 'noop', latency: 'noop-notified' }

export const contender: Contender = {
  name: 'pg-boss',
  settings:
    `work() with batchSize ${BATCH}, localConcurrency ${LOOPS}, burstWhenBatchFull; ` +
    'LISTEN/NOTIFY for the latency only; no supervision',

  async install(place) {
    const boss = await start(place, 'throughput')
    await boss.createQueue(QUEUES.throughput)
    await boss.createQueue(QUEUES.latency, { notify: true })
    await boss.stop({ graceful: false })
  },

  async openProducer(place, aim) {
    const boss = await start(place, aim)
    const queue = QUEUES[aim]
    return {
      submit: async (n) => void (await boss.send(queue, { n })),
      submitMany: async (numbers) =>
        void (await boss.insert(
          queue,
          numbers.map((n) => ({ data: { n } })),
        )),
      close: () => boss.stop({ graceful: false }),
    }
  },

  async startWorker(place, aim, hooks) {
    const boss = await start(place, aim)
    const options = { batchSize: BATCH, localConcurrency: LOOPS, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 }
    await boss.work<{ n: number }>(QUEUES[aim], options, async (jobs) => {
      for (const { data } of jobs) {
        hooks.onStart(data.n)
        hooks.onDone()
      }
    })
  },

  drainedQuery: `SELECT NOT EXISTS (SELECT FROM pgboss.job WHERE state < 'completed')`,
}

async function start({ url }: Place, aim: Aim): Promise<PgBoss> {
  const boss = new PgBoss({
    connectionString: url,
    max: CALLERS,
    supervise: false,
    schedule: false,
    useListenNotify: aim === 'latency',
  })
  boss.on('error', (error) => {
    throw error
  })
  return boss.start()
}
