/**
 * The program of a pool child: loads the models once, then runs one attempt at a time as the worker tells it.
 *
 * The watchdog watches before any user code is loaded. Whatever goes wrong outside the model's function (an exception nobody
 * caught, a channel that closed) ends this process; the worker sees it end and starts another.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { flushCompileCache } from 'node:module'
import { Worker } from 'node:worker_threads'
import { attemptErrorFrom } from '../model/attempt-error.ts'
import { loadModels } from '../model/load-models.ts'
import type { Registry } from '../model/registry.ts'
import { runAttempt } from '../model/run-attempt.ts'
import { AttemptScope } from '../model/scope.ts'
import { createChildMeter } from './child-meter.ts'
import { dropStaleOutput, outputWritten } from './child-output.ts'
import { ChildReports } from './child-reports.ts'
import type { AttemptInput, Outcome } from './executor.ts'
import { type ChildSetup, type FromChild, LIFELINE_FD, type ToChild } from './messages.ts'

type Running = { id: number; scope: AttemptScope; reports: ChildReports }

const setup = JSON.parse(process.argv[2] as string) as ChildSetup
/** The watchdog's latest sample, and the highest since the child looked last. */
const residentBytes = new Float64Array(new SharedArrayBuffer(16))
const meter = createChildMeter(residentBytes)
const attemptIds = new AsyncLocalStorage<number>()
let running: Running | null = null
let registry: Registry | null = null
let emptyBytes = 0

process.on('message', (message: ToChild) => receive(message))
process.on('disconnect', () => process.kill(-process.pid, 'SIGKILL'))
process.on('SIGTERM', () => {
  // Sent to the whole group while an attempt is being stopped: meant for what it has started, this process has the abort signal.
  if (!running?.scope.abortReason) process.exit(143)
})
process.on('uncaughtException', (thrown) => endBroken(thrown))
dropStaleOutput(() => running?.id ?? null, attemptIds)

await startWatchdog()
try {
  registry = await loadModels(setup.modules, setup.from)
  emptyBytes = process.memoryUsage.rss()
  send({ type: 'ready' })
  // Children are mostly killed, and only one that leaves by itself would save what it compiled.
  flushCompileCache()
} catch (thrown) {
  endBroken(thrown)
}

async function startWatchdog(): Promise<void> {
  const watchdog = new Worker(new URL('./watchdog.js', import.meta.url), {
    workerData: { lifelineFd: LIFELINE_FD, limitMb: setup.memoryLimitMb, residentBytes },
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  })
  await once(watchdog, 'message')
  watchdog.unref()
}

function receive(message: ToChild): void {
  if (message.type === 'end') process.exit(0)
  if (message.type === 'abort' && running?.id === message.id) running.scope.abort(message.reason)
  if (message.type === 'answer' && running?.id === message.id) running.reports.steps.receive(message)
  if (message.type === 'run') {
    send({ type: 'started', id: message.id })
    void attemptIds.run(message.id, () => perform(message.id, message.input))
  }
}

async function perform(id: number, input: AttemptInput): Promise<void> {
  const reports = new ChildReports(id, send)
  const scope = new AttemptScope(input, reports, meter)
  running = { id, scope, reports }
  const outcome = await runAttempt(registry as Registry, scope)
  await outputWritten()
  if (running?.id === id) endAttempt(running, outcome, leavesTraces(scope))
}

function endAttempt(attempt: Running, outcome: Outcome, retire: boolean, sent?: () => void): void {
  running = null
  attempt.reports.end()
  send({ type: 'outcome', id: attempt.id, outcome, retire }, sent)
}

/**
 * A stopped attempt may have left programs it started; ending the group is what ends them. A process that keeps more than half of the
 * memory it may use would make a later attempt pay for an earlier one.
 */
function leavesTraces(scope: AttemptScope): boolean {
  const roomBytes = setup.memoryLimitMb * 1024 * 1024 - emptyBytes
  if ((residentBytes[0] ?? 0) - emptyBytes > roomBytes / 2) return true
  return scope.abortReason !== null && process.getActiveResourcesInfo().includes('ProcessWrap')
}

/** The state of a process after an exception nobody caught is unknown, so it serves nothing more. */
function endBroken(thrown: unknown): void {
  const error = attemptErrorFrom(thrown)
  const leave = () => process.exit(1)
  if (registry === null) send({ type: 'not-ready', error }, leave)
  else if (running !== null) endAttempt(running, { status: 'failed', error }, true, leave)
  else leave()
}

function send(message: FromChild, sent = () => {}): void {
  // A closed channel means that the worker is gone, and then so is this process.
  if (process.connected) process.send?.(message, sent)
  else sent()
}
