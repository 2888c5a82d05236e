/**
 * The log: one JSON line per event on standard output, or readable text on a terminal.
 *
 * Logging never blocks and never fails the caller. Every line about a run carries the fields of `runFields`.
 * Sensitive names and the parameters of runs never reach a line.
 */

import { createRequire } from 'node:module'
import pino from 'pino'
import { SENSITIVE_WORDS } from '../run/redaction.ts'
import { createFieldHider } from './hide-fields.ts'
import { createLineWriter } from './line-writer.ts'

export type Log = pino.Logger

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

export type LogOptions = {
  level: LogLevel
  /** `auto`: readable on a terminal, JSON elsewhere. */
  format: 'auto' | 'json' | 'pretty'
  /** Words whose names are hidden. */
  redactWords?: readonly string[]
  /** Fields on every line, e.g. the role of this process. */
  fields?: Record<string, unknown>
  /** Instead of standard output. */
  destination?: LogDestination
}

export type LogDestination = { write(line: string): void; flush?(done: () => void): void }

export function createLog(options: LogOptions): Log {
  const destination: LogDestination = options.destination ?? createLineWriter(process.stdout.fd, { droppedLine })
  const isPretty = options.format === 'pretty' || (options.format === 'auto' && process.stdout.isTTY === true)
  const hide = createFieldHider(options.redactWords ?? SENSITIVE_WORDS)
  const log = pino(
    {
      level: options.level,
      base: { pid: process.pid, ...options.fields },
      timestamp: isoTime(),
      formatters: {
        level: (label) => ({ level: label }),
        log: hide,
      },
    },
    isPretty ? pretty(destination) : destination,
  )
  return Object.assign(log, { [HIDE]: hide })
}

/** Children inherit it. */
const HIDE = Symbol('hides sensitive fields')

/** A log whose lines all carry these fields, which are put into text once. */
export function withFields(log: Log, fields: Record<string, unknown>): Log {
  const { [HIDE]: hide } = log as Log & { [HIDE]: ReturnType<typeof createFieldHider> }
  return log.child(hide(fields))
}

/** Resolves when every line logged so far has left the process. */
export function flushLog(log: Log): Promise<void> {
  return new Promise((resolve) => log.flush(() => resolve()))
}

export type RunLogFields = {
  runId: string
  payloadHash: string
  workerId: string | null
  status: string
  attemptCount: number
  queue: string
  executor: string
}

/** What every line about a run says. */
export function runFields(run: RunLogFields) {
  return {
    run_id: run.runId,
    payload_hash: run.payloadHash,
    worker_id: run.workerId,
    status: run.status,
    attempt_count: run.attemptCount,
    queue: run.queue,
    executor: run.executor,
  }
}

/** Lines of the same millisecond share one text of the time. */
function isoTime(): () => string {
  let atMs = Number.NaN
  let text = ''
  return () => {
    const nowMs = Date.now()
    if (nowMs !== atMs) {
      atMs = nowMs
      text = `,"time":"${new Date(nowMs).toISOString()}"`
    }
    return text
  }
}

function droppedLine(count: number): string {
  const time = new Date().toISOString()
  const msg = 'log lines dropped: the reader is too slow'
  return `${JSON.stringify({ level: 'warn', time, pid: process.pid, dropped: count, msg })}\n`
}

/** Loaded only where a person reads along: the formatter is of no use to a service. */
function pretty(destination: LogDestination): LogDestination {
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty')
  const format = prettyFactory({
    colorize: process.stdout.isTTY === true,
    ignore: 'pid',
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss.l',
  })
  return {
    write: (line) => destination.write(format(line)),
    flush: (done) => (destination.flush ? destination.flush(done) : done()),
  }
}
