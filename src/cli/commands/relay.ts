/** `holdfast relay`: takes facts to webhooks, mail and the stream; as many on as many machines as you like. */

import type { Command } from 'commander'
import { createLogOf } from '../../compose-log.ts'
import { createRelay, openRelayParts, type RelayParts } from '../../compose-relay.ts'
import { readEnvironment } from '../../config/read-environment.ts'
import { flushLog } from '../../telemetry/log.ts'
import type { Probe } from '../../worker/probe.ts'
import { assertMigrated, findDatabase } from '../database.ts'
import { stopRequested } from '../stop-signals.ts'

const BACKLOG_MS_MAX = 2_000

export function addRelay(program: Command): void {
  program
    .command('relay')
    .description('run a relay: sends webhooks, mail and stream entries that wait in the outbox')
    .option('--sends <number>', 'deliveries of one channel sent at once (HOLDFAST_RELAY_SENDS)')
    .option('--port <number>', 'port for /metrics, /livez and /readyz, 0 for any free one (HOLDFAST_RELAY_PORT; none)')
    .option('--host <address>', 'address for that port (HOLDFAST_RELAY_HOST)')
    .action(relay)
}

async function relay(options: { sends?: string; port?: string; host?: string }): Promise<void> {
  const stop = stopRequested()
  const config = readEnvironment({
    HOLDFAST_RELAY_SENDS: options.sends,
    HOLDFAST_RELAY_PORT: options.port,
    HOLDFAST_RELAY_HOST: options.host,
  })
  const url = await findDatabase(config)
  await assertMigrated(url)
  const parts = openRelayParts(config, url, createLogOf(config, 'relay'))
  let isStopping = false
  const probe = await openProbe(parts, () => isStopping)
  const running = await createRelay(parts)
  running.start()
  parts.log.info({ why: await stop }, 'stopping')
  isStopping = true
  await running.stop()
  await probe?.close()
  await parts.store.close()
  await flushLog(parts.log)
  // A sender that did not end in time may have left a socket behind; nothing of ours is open any more.
  process.exit(0)
}

async function openProbe(parts: RelayParts, isStopping: () => boolean): Promise<Probe | null> {
  const { config, metrics, store, log } = parts
  const { host, port } = config.relay.probe
  if (port === null) return null
  const { within } = await import('../../api/within.ts')
  const { startProbe } = await import('../../worker/probe.ts')
  metrics.onDeliveryBacklog(() => within(BACKLOG_MS_MAX, store.outbox.backlog()))
  const probe = await startProbe({ host, port, metrics, ping: () => store.ping(), isStopping, log })
  log.info({ url: probe.url }, 'answering probes')
  return probe
}
