/**
 * The document pipeline as it is, but each step writes down that it begins, and takes its worker with it when it is told to: right before a step,
 * when those before it are durable, or right after one, when its output is made and nobody has it yet.
 *
 * What to do is said by files in the working folder, which the one who removes a file has to do.
 */

import { appendFileSync, rmSync } from 'node:fs'
import documentPipeline from '../../examples/document-pipeline/document-pipeline.ts'
import type { Context } from '../../src/model/model.ts'

export const KILL_BEFORE = 'kill-before-a-step'
export const KILL_AFTER = 'kill-after-a-step'
/** One file for each process that executes steps; a line is the run, the attempt and the name of the step. */
export const STEP_LOG = /^steps-\d+\.log$/

const ATTEMPTS_MAX = 1_000

function counted(ctx: Context): Context {
  const through =
    <Output>(name: string, work: () => Output) =>
    async () => {
      appendFileSync(`steps-${process.pid}.log`, `${ctx.runId} ${ctx.attempt} ${name}\n`)
      dieIfTold(KILL_BEFORE)
      const output = await work()
      dieIfTold(KILL_AFTER)
      return output
    }
  const step: Context['step'] = (name, work, options) =>
    ctx.step(name, (own) => through(name, () => work(counted(own) as typeof own))(), options) as never
  const map: Context['map'] = (name, items, work, options) =>
    ctx.map(
      name,
      items,
      (item, own, index) => through(`${name}[${index}]`, () => work(item, counted(own) as typeof own, index))(),
      options,
    ) as never
  return Object.create(ctx, { step: { value: step }, map: { value: map } })
}

/** In a child process the worker is its parent. Only one of those who try removes the file. */
function dieIfTold(file: string): void {
  try {
    rmSync(file)
  } catch {
    return
  }
  process.kill(process.send ? process.ppid : process.pid, 'SIGKILL')
  // The output must not get away while the signal is on its way.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000)
}

const { definition } = documentPipeline

/** Killed workers use up attempts, which are not what this is about. */
export default Object.freeze({
  ...documentPipeline,
  definition: { ...definition, retry: { ...definition.retry, maxAttempts: ATTEMPTS_MAX } },
  run: ((parameters, ctx) =>
    documentPipeline.run(parameters, counted(ctx as Context) as typeof ctx)) as typeof documentPipeline.run,
})
