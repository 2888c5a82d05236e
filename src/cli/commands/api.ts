/** `holdfast api`: only the HTTP API, on a database that has been migrated. */

import type { Command } from 'commander'
import { closeParts, listen, openParts } from '../../compose.ts'
import { readEnvironment } from '../../config/read-environment.ts'
import { flushLog } from '../../telemetry/log.ts'
import { assertMigrated, findDatabase } from '../database.ts'
import { stopRequested } from '../stop-signals.ts'

export function addApi(program: Command): void {
  program
    .command('api')
    .description('run the HTTP API alone')
    .option('--host <address>', 'address to listen on (HOLDFAST_HOST)')
    .option('--port <number>', 'port to listen on, 0 for any free one (HOLDFAST_PORT)')
    .action(api)
}

async function api(options: { host?: string; port?: string }): Promise<void> {
  const stop = stopRequested()
  const config = readEnvironment({ HOLDFAST_HOST: options.host, HOLDFAST_PORT: options.port })
  const url = await findDatabase(config)
  await assertMigrated(url)
  const parts = await openParts(config, url, 'api')
  const { app, url: address } = await listen(parts)
  parts.log.info({ url: address }, 'listening')
  parts.log.info({ why: await stop }, 'stopping')
  await app.close()
  await closeParts(parts)
  await flushLog(parts.log)
}
