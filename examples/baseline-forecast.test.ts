import { expect, test } from 'vitest'
import type { AttemptInput, Outcome } from '../src/executor/executor.ts'
import { InlineExecutor } from '../src/executor/inline.ts'
import { definitionOf } from '../src/model/model.ts'
import { checkParameters } from '../src/model/parameter-check.ts'
import { Registry } from '../src/model/registry.ts'
import baselineForecast from './baseline-forecast.ts'

const executor = new InlineExecutor({ registry: new Registry([baselineForecast]) })
const definition = definitionOf(baselineForecast)
const asked = { scenario: 'high_inflation', region: 'AU' }

async function attempt(
  parameters: object,
  more: Partial<AttemptInput> = {},
): Promise<{ outcome: Outcome; progress: unknown[] }> {
  const checked = checkParameters(definition.parametersSchema, { ...asked, seconds: 0, ...parameters })
  if (!checked.ok) throw new Error(JSON.stringify(checked.errors))
  const input = {
    runId: 'r',
    attempt: 1,
    model: 'baseline_forecast_v1',
    modelVersion: '1',
    seed: 42,
    timeoutMs: 10_000,
  }
  const progress: unknown[] = []
  const reports = { progress: (value: unknown) => progress.push(value), log: () => {} }
  const handle = await executor.submit({ ...input, parameters: checked.value, ...more }, reports)
  return { outcome: await executor.watch(handle), progress }
}

async function result(parameters: object, more: Partial<AttemptInput> = {}) {
  const { outcome } = await attempt(parameters, more)
  return outcome.status === 'succeeded' ? JSON.parse(outcome.resultText) : outcome
}

test('defaults are applied, unknown and bad parameters refused', () => {
  const checked = checkParameters(definition.parametersSchema, asked)
  const defaults = { horizon_months: 24, seconds: 1, fail_attempts: 0, failure_rate: 0, fatal: false }
  expect(checked).toEqual({ ok: true, value: { ...asked, ...defaults } })
  const bad = checkParameters(definition.parametersSchema, { scenario: 'x', horizon_months: 601, regoin: 'AU' })
  expect(bad).toMatchObject({ ok: false })
  const pointers = bad.ok ? [] : bad.errors.map(({ pointer }) => pointer)
  expect(pointers.toSorted()).toEqual(['/horizon_months', '/region', '/regoin'])
})

test('the result names the run, its inputs, metrics and notes', async () => {
  expect(await result({ horizon_months: 12 })).toEqual({
    run_id: 'r',
    inputs: { ...asked, horizon_months: 12, seconds: 0, fail_attempts: 0, failure_rate: 0, fatal: false },
    metrics: { runtime_seconds: expect.any(Number), objective: expect.any(Number) },
    notes: expect.stringContaining('12 months of high_inflation in AU'),
  })
})

test('only the run id and the runtime differ between two runs of one seed, whatever the attempt', async () => {
  const first = await result({}, { runId: 'a' })
  const second = await result({}, { runId: 'b', attempt: 2 })
  expect(second).toEqual({ ...first, run_id: 'b', metrics: { ...first.metrics, runtime_seconds: expect.any(Number) } })
  const other = await result({}, { seed: 43 })
  expect(other.metrics.objective).not.toBe(first.metrics.objective)
  expect(definition.volatile).toEqual(['run_id', 'metrics.runtime_seconds'])
})

test('the first attempts fail as asked, with an error that may be retried', async () => {
  const failure = { status: 'failed', error: { class: 'SimulatedFailure' } }
  expect(await result({ fail_attempts: 2 }, { attempt: 2 })).toMatchObject(failure)
  expect(await result({ fail_attempts: 2 }, { attempt: 3 })).toMatchObject({ run_id: 'r' })
})

test('the failure rate is drawn per attempt and repeats for a seed', async () => {
  const draws = async () => {
    const results = [1, 2, 3, 4, 5, 6, 7, 8].map((attempt) => result({ failure_rate: 0.5 }, { attempt }))
    return (await Promise.all(results)).map((one) => 'run_id' in one)
  }
  const first = await draws()
  expect(new Set(first)).toEqual(new Set([true, false]))
  expect(await draws()).toEqual(first)
  expect(await result({ failure_rate: 1 })).toMatchObject({ error: { class: 'SimulatedFailure' } })
})

test('a fatal failure is never retried', async () => {
  expect(await result({ fatal: true })).toMatchObject({ error: { class: 'Fatal', retryable: false } })
})

test('it reports progress while it sleeps and stops when told', async () => {
  expect((await attempt({})).progress).toEqual([
    { done: 0, of: 1 },
    { done: 1, of: 1 },
  ])
  const { outcome, progress } = await attempt({ seconds: 3600 }, { timeoutMs: 5 })
  expect(outcome).toMatchObject({ status: 'failed', error: { class: 'Timeout' } })
  expect(progress).toEqual([{ done: 0, of: 100 }])
})
