/** The command line: `holdfast <command>`. Each command has a file of its own in commands/. */

import { Command } from 'commander'
import { version } from '../compose.ts'
import { addApi } from './commands/api.ts'
import { addMigrate } from './commands/migrate.ts'
import { addModels } from './commands/models.ts'
import { addQuota } from './commands/quota.ts'
import { addReservation } from './commands/reservation.ts'
import { addStart } from './commands/start.ts'
import { addSweep } from './commands/sweep.ts'
import { addToken } from './commands/token.ts'
import { addUpload } from './commands/upload.ts'
import { addWorker } from './commands/worker.ts'
import { explain } from './explain.ts'

const program = new Command('holdfast')
  .description('Durable runs: submit an expensive computation once, get it finished once, whatever dies.')
  .version(version)
  .showHelpAfterError('Run "holdfast --help" for the commands.')
  .addHelpText('after', '\nSettings come from the environment; see docs/config.md and .env.example.')

for (const add of [
  addStart,
  addApi,
  addWorker,
  addMigrate,
  addModels,
  addQuota,
  addReservation,
  addSweep,
  addToken,
  addUpload,
])
  add(program)

try {
  await program.parseAsync()
} catch (error) {
  process.stderr.write(`holdfast: ${explain(error)}\n`)
  process.exit(1)
}
