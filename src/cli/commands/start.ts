/**
 * `holdfast start`: the whole service in one command. Database, migrations, API and relay here, workers in processes of their own. The relay only
 * waits for others and runs no code of users, so it needs no process of its own; more of them can be added with `holdfast relay`.
 */

import type { Command } from 'commander'
import { asksForTokens, closeParts, DASHBOARD_ROOT, listen, openParts } from '../../compose.ts'
import { createLogOf } from '../../compose-log.ts'
import { createRelay } from '../../compose-relay.ts'
import { environment, readEnvironment } from '../../config/read-environment.ts'
import { flushLog } from '../../telemetry/log.ts'
import { planDashboardBuild } from '../dashboard-build.ts'
import { migrateDatabase, startDatabase } from '../database.ts'
import { greeting } from '../greeting.ts'
import { stopRequested } from '../stop-signals.ts'
import { Supervisor } from '../supervisor.ts'

export function addStart(program: Command): void {
  program
    .command('start')
    .description('run everything: embedded Postgres (unless DATABASE_URL is set), migrations, API, relay and workers')
    .action(start)
}

async function start(): Promise<void> {
  const stop = stopRequested()
  const config = readEnvironment()
  const log = createLogOf(config, 'start')
  let isStopping = false
  const database = await startDatabase(config, log)
  try {
    const { applied } = await migrateDatabase(database.url)
    if (applied.length > 0) log.info({ applied }, 'migrations applied')
    const parts = await openParts(config, database.url, 'start')
    const supervisor = new Supervisor({ log, env: { ...environment(), DATABASE_URL: database.url } })
    await supervisor.start(config.worker.processes)
    const otherMetrics = config.worker.processes > 0 ? () => supervisor.metrics() : undefined
    const root = config.http.dashboardDir === null ? DASHBOARD_ROOT : null
    const dashboard = await planDashboardBuild({ root, env: environment(), log })
    const { app, url } = await listen(parts, {
      otherMetrics,
      isStopping: () => isStopping,
      dashboardBuildState: dashboard.state,
    })
    const relay = await createRelay(parts)
    relay.start()
    log.info({ url, worker_pids: supervisor.pids }, 'listening')
    const examplesOffered = config.worker.models.length === 0
    const asksForToken = await asksForTokens(parts)
    process.stderr.write(greeting({ url, workerPids: supervisor.pids, examplesOffered, asksForToken }))
    // Only now: until here, every second of waiting counts.
    dashboard.begin()

    const why = await Promise.race([stop, database.ended.then(() => 'the embedded Postgres ended')])
    isStopping = true
    log.info({ why }, 'stopping')
    await dashboard.stop()
    // Workers first: the API goes on answering while they finish or release what they hold.
    await supervisor.stop()
    await relay.stop()
    await app.close()
    await closeParts(parts)
  } finally {
    await database.stop()
  }
  log.info('stopped')
  await flushLog(log)
}
