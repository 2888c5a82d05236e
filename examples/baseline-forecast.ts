/**
 * An example model: pretends to forecast a region's economy, so that everything around a run can be tried without real compute.
 *
 * It sleeps `seconds`, simulates a path of `horizon_months` and summarises it. Failures can be asked for: the first `fail_attempts`
 * attempts throw, any attempt throws with probability `failure_rate`, and `fatal` ends the run at once. Equal parameters give equal
 * results but for the run id and the time it took.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { Fatal, model, seededRandom } from 'holdfast'
import { z } from 'zod'

const SECONDS_MAX = 24 * 3600
const PROGRESS_STEPS_MAX = 100
const STEP_SECONDS_MIN = 0.1

class SimulatedFailure extends Error {
  override readonly name = 'SimulatedFailure'
}

export default model({
  name: 'baseline_forecast_v1',
  version: '1',
  description: 'A simulated baseline forecast: sleeps, then answers summary statistics of a random path.',
  parameters: z.strictObject({
    scenario: z.string().min(1).max(200),
    region: z.string().min(1).max(200),
    horizon_months: z.int().min(1).max(600).default(24),
    seconds: z.number().min(0).max(SECONDS_MAX).default(1),
    fail_attempts: z.int().min(0).max(1000).default(0),
    failure_rate: z.number().min(0).max(1).default(0),
    fatal: z.boolean().default(false),
  }),
  volatile: ['run_id', 'metrics.runtime_seconds'],

  async run(parameters, ctx) {
    const startedMs = performance.now()
    await work(parameters.seconds, ctx.signal, ctx.progress)
    if (parameters.fatal) throw new Fatal('asked to fail for good')
    if (ctx.attempt <= parameters.fail_attempts) {
      throw new SimulatedFailure(`asked to fail the first ${parameters.fail_attempts} attempts; this is ${ctx.attempt}`)
    }
    if (ctx.random() < parameters.failure_rate) {
      throw new SimulatedFailure(`bad luck at a failure rate of ${parameters.failure_rate}`)
    }
    const path = simulatedPath(parameters.horizon_months, seededRandom(ctx.seed, 0))
    ctx.logger.info('forecast done', { months: path.length })
    return {
      run_id: ctx.runId,
      inputs: parameters,
      metrics: {
        runtime_seconds: rounded((performance.now() - startedMs) / 1000, 3),
        objective: rounded(meanOf(path) - 0.5 * deviationOf(path), 6),
      },
      notes: `Simulated ${path.length} months of ${parameters.scenario} in ${parameters.region}; nothing here is a real forecast.`,
    }
  },
})

async function work(seconds: number, signal: AbortSignal, progress: (value: unknown) => void): Promise<void> {
  const steps = Math.max(1, Math.min(PROGRESS_STEPS_MAX, Math.floor(seconds / STEP_SECONDS_MIN)))
  for (let step = 0; step < steps; step++) {
    progress({ done: step, of: steps })
    await sleep((seconds * 1000) / steps, undefined, { signal })
  }
  progress({ done: steps, of: steps })
}

/** An index that starts at 100 and grows about 2 % a year, with noise that keeps half of its last value. */
function simulatedPath(months: number, random: () => number): number[] {
  let level = 100
  let noise = 0
  return Array.from({ length: months }, () => {
    noise = 0.5 * noise + (random() + random() + random() - 1.5)
    level += 2 / 12 + noise
    return level
  })
}

function meanOf(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function deviationOf(values: number[]): number {
  const mean = meanOf(values)
  return Math.sqrt(meanOf(values.map((value) => (value - mean) ** 2)))
}

/** Few enough digits that no platform's arithmetic can show. */
function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
