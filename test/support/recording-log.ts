/** A log that keeps its lines as objects, to be looked at by a test. */

import { createLog, type Log } from '../../src/telemetry/log.ts'

export type LogLine = Record<string, unknown> & { level: string; msg: string }

export function recordingLog(): { log: Log; lines: LogLine[] } {
  const lines: LogLine[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) }
  return { log: createLog({ level: 'debug', format: 'json', destination }), lines }
}
