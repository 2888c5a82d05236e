/** The command line: `holdfast <command>`. Each command has a file of its own in commands/. */

import { Command } from 'commander'
import { version } from '../version.ts'
import { explain } from './explain.ts'

type Add = (program: Command) => void

// Only the one that was asked for is loaded: starting is most of what a short command does, and a worker's memory is counted.
const COMMANDS: Record<string, () => Promise<Add>> = {
  start: async () => (await import('./commands/start.ts')).addStart,
  api: async () => (await import('./commands/api.ts')).addApi,
  worker: async () => (await import('./commands/worker.ts')).addWorker,
  relay: async () => (await import('./commands/relay.ts')).addRelay,
  deliveries: async () => (await import('./commands/deliveries.ts')).addDeliveries,
  migrate: async () => (await import('./commands/migrate.ts')).addMigrate,
  models: async () => (await import('./commands/models.ts')).addModels,
  quota: async () => (await import('./commands/quota.ts')).addQuota,
  recipient: async () => (await import('./commands/recipient.ts')).addRecipient,
  reservation: async () => (await import('./commands/reservation.ts')).addReservation,
  sweep: async () => (await import('./commands/sweep.ts')).addSweep,
  token: async () => (await import('./commands/token.ts')).addToken,
  upload: async () => (await import('./commands/upload.ts')).addUpload,
  webhook: async () => (await import('./commands/webhook.ts')).addWebhook,
}

const program = new Command('holdfast')
  .description('Durable runs: submit an expensive computation once, get it finished once, whatever dies.')
  .version(version)
  .showHelpAfterError('Run "holdfast --help" for the commands.')
  .addHelpText('after', '\nSettings come from the environment; see docs/config.md and .env.example.')

const asked = process.argv[2] ?? ''
const isVersion = asked === '--version' || asked === '-V'
const loads = Object.hasOwn(COMMANDS, asked) ? [COMMANDS[asked]!] : isVersion ? [] : Object.values(COMMANDS)

try {
  for (const load of loads) (await load())(program)
  await program.parseAsync()
} catch (error) {
  process.stderr.write(`holdfast: ${explain(error)}\n`)
  process.exit(1)
}
