/** The log of a role. Apart from compose.ts, so that a command that only reads a table does not load the whole service. */

import type { Config } from './config/config.ts'
import { createLog, type Log } from './telemetry/log.ts'

export type Role = 'start' | 'api' | 'worker' | 'relay' | 'migrate'

export function createLogOf(config: Config, role: Role): Log {
  return createLog({ ...config.log, fields: { role } })
}
