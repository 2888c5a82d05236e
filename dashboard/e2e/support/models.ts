/**
 * What the tests run. All are inline, so that they are quick and also die with a worker process that is killed.
 *
 * `slow` and `steps` wait for the test: they end (or go on) when a file named after the run appears in the folder of
 * HOLDFAST_TEST_FOLDER, which `house.letGo(runId)` makes.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { type Context, Fatal, fileId, model } from '../../../src/model/model.ts'

const LOOK_MS = 20
const retry = { delaysSeconds: [0.05], jitter: 0 }

async function untilTold({ runId, signal }: Context<unknown>): Promise<void> {
  while (!isOpen(runId)) await sleep(LOOK_MS, undefined, { signal })
}

function isOpen(gate: string): boolean {
  return gate !== '' && existsSync(join(process.env.HOLDFAST_TEST_FOLDER ?? '.', gate))
}

export const quick = model({
  name: 'quick',
  description: 'Answers at once.',
  executor: 'inline',
  parameters: z.looseObject({ name: z.string().default('world'), count: z.int().default(1) }),
  retry,
  run(parameters, ctx) {
    ctx.logger.info(`hello ${parameters.name}`)
    return { greeting: `hello ${parameters.name}`, parameters }
  },
})

export const slow = model({
  name: 'slow',
  description: 'Runs until it is told to end, and shows progress.',
  executor: 'inline',
  parameters: z.looseObject({ name: z.string().default('slow') }),
  retry,
  expectedSeconds: 60,
  async run(_parameters, ctx) {
    ctx.logger.info(`attempt ${ctx.attempt} has begun`)
    ctx.progress({ done: 1, of: 4 })
    await untilTold(ctx)
    ctx.progress({ done: 4, of: 4 })
    ctx.logger.info('told to end')
    return { attempt: ctx.attempt }
  },
})

class UpstreamRefused extends Error {
  override readonly name = 'UpstreamRefused'
}

export const failing = model({
  name: 'failing',
  description:
    'Fails for good, until the gate that it names is opened by `house.letGo(gate)`; give one no other test uses.',
  executor: 'inline',
  parameters: z.looseObject({
    message: z.string().default('the input has no header row'),
    gate: z.string().default(''),
  }),
  retry: { maxAttempts: 1 },
  run({ message, gate }) {
    if (!isOpen(gate)) throw new Fatal(message)
    return { gate }
  },
})

export const flaky = model({
  name: 'flaky',
  description: 'Its first attempts fail with an error that may be retried.',
  executor: 'inline',
  parameters: z.object({ failures: z.int().default(1) }),
  retry,
  run({ failures }, ctx) {
    if (ctx.attempt <= failures) throw new UpstreamRefused(`attempt ${ctx.attempt}: 503 from the rates service`)
    return { attempt: ctx.attempt }
  },
})

export const chatty = model({
  name: 'chatty',
  description: 'Prints many lines.',
  executor: 'inline',
  parameters: z.object({ lines: z.int().default(1_000), text: z.string().default('line') }),
  retry,
  async run({ lines, text }, ctx) {
    for (let line = 1; line <= lines; line += 1) {
      ctx.logger.info(`${text} ${line}`)
      if (line % 1_000 === 0) await sleep(0)
    }
    return { lines }
  },
})

export const large = model({
  name: 'large',
  description: 'Answers a list whose JSON has about so many bytes.',
  executor: 'inline',
  parameters: z.object({ bytes: z.int().default(5_000_000) }),
  retry,
  run: ({ bytes }) => ({
    rows: Array.from({ length: Math.ceil(bytes / 100) }, (_, id) => ({ id, name: `row ${id}`, text: 'x'.repeat(60) })),
  }),
})

export const steps = model({
  name: 'steps',
  description:
    'Three steps; the second waits until the run is told to go on, or fails until the gate that `failUntil` names is open.',
  executor: 'inline',
  parameters: z.object({ wait: z.boolean().default(false), failUntil: z.string().default('') }),
  retry,
})
  .step('load', () => ({ rows: 120 }))
  .step(
    'fit',
    async ({ rows }, ctx) => {
      const { wait, failUntil } = ctx.parameters
      if (wait) await untilTold(ctx)
      if (failUntil !== '' && !isOpen(failUntil)) throw new UpstreamRefused('the solver did not converge')
      return { rows, error: 0.04 }
    },
    { retries: 1, backoff: { baseDelaySeconds: 0.05 } },
  )
  .step('report', ({ rows, error }) => ({ rows, error, ready: true }))

/** Every kind of field a form has to show. */
export const forecast = model({
  name: 'forecast',
  description: 'A forecast with parameters of every kind.',
  executor: 'inline',
  parameters: z.strictObject({
    scenario: z.enum(['baseline', 'high_inflation', 'recession']).default('baseline').describe('Which future'),
    region: z.string().min(2).max(40).describe('Country or region'),
    horizon_months: z.int().min(1).max(600).default(24),
    discount_rate: z.number().min(0).max(1).default(0.05),
    with_intervals: z.boolean().default(false),
    sectors: z.array(z.string()).default([]),
    limits: z.object({ floor: z.number().optional(), ceiling: z.number().optional() }).default({}),
    api_key: z.string().optional(),
  }),
  retry,
  run: (parameters) => ({ inputs: { ...parameters, api_key: undefined }, objective: parameters.horizon_months * 1.5 }),
})

export const documents = model({
  name: 'documents',
  description:
    'Counts the words of a file. One that begins with "broken" fails, until the gate of its second word is open; one that begins with "slow" waits.',
  executor: 'inline',
  parameters: z.object({ document: fileId() }),
  retry,
  async run(_parameters, ctx) {
    const { readFile } = await import('node:fs/promises')
    const text = await readFile(ctx.file('document').path, 'utf8')
    const [first, gate = ''] = text.split(/\s+/)
    if (first === 'broken' && !isOpen(gate)) {
      throw new Fatal('This document cannot be read: it ends in the middle of a page.')
    }
    if (text.startsWith('slow')) await untilTold(ctx)
    return { words: text.split(/\s+/).filter(Boolean).length }
  },
})
