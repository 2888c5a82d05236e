/** `holdfast worker`: takes runs and executes them; as many on as many machines as you like. */

import type { Command } from 'commander'
import { closeParts, createWorker, openParts, type Parts } from '../../compose.ts'
import { readEnvironment } from '../../config/read-environment.ts'
import { flushLog } from '../../telemetry/log.ts'
import type { Probe } from '../../worker/probe.ts'
import { assertMigrated, findDatabase } from '../database.ts'
import { exampleModels } from '../example-models.ts'
import { stopRequested } from '../stop-signals.ts'
import type { MetricsReply, MetricsRequest, ReadyMessage } from '../supervisor.ts'

export function addWorker(program: Command): void {
  program
    .command('worker')
    .description('run a worker')
    .option('--queues <list>', 'queues to take from, each with an optional limit, e.g. default,gpu:2 (HOLDFAST_QUEUES)')
    .option('--concurrency <number>', 'runs at once (HOLDFAST_CONCURRENCY)')
    .option(
      '--models <modules>',
      'modules that export models and YAML files that declare them, between commas (HOLDFAST_MODELS; the examples when empty)',
    )
    .option('--port <number>', 'port for /metrics, /livez and /readyz, 0 for any free one (HOLDFAST_WORKER_PORT; none)')
    .option('--host <address>', 'address for that port (HOLDFAST_WORKER_HOST)')
    .action(work)
}

type WorkerOptions = { queues?: string; concurrency?: string; models?: string; port?: string; host?: string }

async function work(options: WorkerOptions): Promise<void> {
  const stop = stopRequested()
  const given = readEnvironment({
    HOLDFAST_QUEUES: options.queues,
    HOLDFAST_CONCURRENCY: options.concurrency,
    HOLDFAST_MODELS: options.models,
    HOLDFAST_WORKER_PORT: options.port,
    HOLDFAST_WORKER_HOST: options.host,
  })
  const models = given.worker.models.length > 0 ? given.worker.models : exampleModels(process.cwd())
  const config = { ...given, worker: { ...given.worker, models } }
  const url = await findDatabase(config)
  await assertMigrated(url)
  const parts = await openParts(config, url, 'worker')
  const worker = await createWorker(parts, url)
  await worker.start()
  let isStopping = false
  const probe = await openProbe(parts, () => isStopping)
  process.on('message', (message: MetricsRequest) => {
    if (message.type !== 'metrics') return
    const answer = (metrics: MetricsReply['metrics']) => process.send?.({ ...message, metrics } satisfies MetricsReply)
    parts.metrics.export().then(answer, () => {})
  })
  process.send?.({ type: 'ready' } satisfies ReadyMessage)
  parts.log.info({ why: await stop }, 'stopping')
  isStopping = true
  await worker.stop()
  await probe?.close()
  await closeParts(parts)
  await flushLog(parts.log)
  // User code may have left timers or sockets behind; nothing of ours is open any more.
  process.exit(0)
}

/** Under "holdfast start" the workers hand their metrics over, and several would want the same port. */
async function openProbe({ config, metrics, store, log }: Parts, isStopping: () => boolean): Promise<Probe | null> {
  const { host, port } = config.worker.probe
  if (port === null || process.send) return null
  const { startProbe } = await import('../../worker/probe.ts')
  const probe = await startProbe({ host, port, metrics, ping: () => store.ping(), isStopping, log })
  log.info({ url: probe.url }, 'answering probes')
  return probe
}
