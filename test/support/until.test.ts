import { expect, it } from 'vitest'
import { until } from './until.ts'

it('gives what the check found at last', async () => {
  let calls = 0
  expect(await until(() => ++calls >= 3 && `call ${calls}`, { everyMs: 1, what: 'three calls' })).toBe('call 3')
})

it('gives up at the deadline and says what it waited for', async () => {
  await expect(until(() => false, { timeoutMs: 5, everyMs: 1, what: 'pigs fly' })).rejects.toThrow('until pigs fly')
})
