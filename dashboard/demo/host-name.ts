/**
 * Gives workers of the demo names of their own, so that pictures do not show the machine they were taken on.
 * Imported first in a worker process.
 */

import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'

export function setHostName(name: string): void {
  os.hostname = () => name
  syncBuiltinESMExports()
}

if (process.env.DEMO_HOST) setHostName(process.env.DEMO_HOST)
