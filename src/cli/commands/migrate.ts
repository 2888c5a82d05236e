/** `holdfast migrate`: brings the database's schema up to date and says what it did. */

import type { Command } from 'commander'
import { createLogOf } from '../../compose-log.ts'
import { readEnvironment } from '../../config/read-environment.ts'
import { findRunningEmbedded } from '../../store/embedded/connection-file.ts'
import { migrateDatabase, startDatabase } from '../database.ts'

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description('bring the database schema up to date')
    .option('--json', 'print the result as JSON')
    .action(runMigrations)
}

async function runMigrations(options: { json?: boolean }): Promise<void> {
  const config = readEnvironment()
  const running = config.database.url ? null : await findRunningEmbedded(config.database.dataDir)
  const database = running ? null : await startDatabase(config, createLogOf(config, 'migrate'))
  try {
    const { applied, already } = await migrateDatabase(running?.url ?? database!.url)
    if (options.json) process.stdout.write(`${JSON.stringify({ applied, already })}\n`)
    else if (applied.length === 0) process.stdout.write(`Nothing to do: ${already.length} migrations are in place.\n`)
    else process.stdout.write(`Applied ${applied.join(', ')}.\n`)
  } finally {
    await database?.stop()
  }
}
