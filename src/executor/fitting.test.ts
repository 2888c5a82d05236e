import { expect, test } from 'vitest'
import type { ModelDefinition } from '../run/definition.ts'
import type { AttemptInput, Executor, Handle, Outcome } from './executor.ts'
import { fitting } from './fitting.ts'

const DONE: Outcome = { status: 'succeeded', resultText: '1' }
const REPORTS = { progress: () => {}, log: () => {} }

class CommandStandIn implements Executor {
  readonly name = 'command'
  readonly calls: string[] = []
  submit(input: AttemptInput): Handle {
    this.calls.push(`submit ${JSON.stringify(input.parameters)}`)
    return { runId: input.runId, attempt: input.attempt }
  }
  async watch(): Promise<Outcome> {
    return DONE
  }
  async cancel(): Promise<void> {
    this.calls.push('cancel')
  }
  room(): number {
    return this.calls.length
  }
  async stop(): Promise<void> {
    this.calls.push('stop')
  }
}

const DEFINITION = {
  executor: 'command',
  parametersSchema: { type: 'object', properties: { n: { type: 'integer', default: 1 } } },
} as unknown as ModelDefinition

const input = (parameters: unknown): AttemptInput => ({
  runId: 'r',
  attempt: 1,
  model: 'm',
  modelVersion: '1',
  parameters,
  seed: 1,
  timeoutMs: 1_000,
})

test('what fits is handed over as it is, without new defaults', async () => {
  const inner = new CommandStandIn()
  const executor = fitting(inner, () => DEFINITION)
  const handle = await executor.submit(input({}), REPORTS)
  expect(await executor.watch(handle)).toEqual(DONE)
  await executor.cancel(handle, 'cancelled', 0)
  await executor.stop()
  expect(inner.calls).toEqual(['submit {}', 'cancel', 'stop'])
  expect(executor.room?.()).toBe(3)
  expect(executor.adopt).toBeUndefined()
})

test.each<[string, ModelDefinition | undefined, unknown, string, boolean | undefined]>([
  ['an unknown model', undefined, {}, 'ModelNotOffered', undefined],
  ['another executor', { ...DEFINITION, executor: 'ray' }, {}, 'ExecutorNotAllowed', undefined],
  ['parameters that no longer fit', DEFINITION, { n: 'x' }, 'ParametersRefused', false],
])('%s is refused before anything starts', async (_what, spec, parameters, errorClass, retryable) => {
  const inner = new CommandStandIn()
  const executor = fitting(inner, () => spec)
  const handle = await executor.submit(input(parameters), REPORTS)
  const outcome = await executor.watch(handle)
  await executor.cancel(handle, 'cancelled', 0)
  expect(outcome).toMatchObject({ status: 'failed', error: { class: errorClass } })
  expect(outcome.status === 'failed' && outcome.error.retryable).toBe(retryable)
  expect(inner.calls).toEqual([])
})

test('a job that an earlier holder started is adopted whatever the model says now', async () => {
  const inner = Object.assign(new CommandStandIn(), { adopt: async () => ({ runId: 'r', attempt: 1 }) })
  const executor = fitting(inner, () => undefined)
  expect(await executor.adopt?.(input({}), {}, REPORTS)).toEqual({ runId: 'r', attempt: 1 })
})
