import { expect, test } from 'vitest'
import { fromEnvironment } from './environment.ts'

test('address and token come from the environment it is given', () => {
  const env = { HOLDFAST_URL: 'https://runs.test', HOLDFAST_TOKEN: 'hf_x' }
  expect(fromEnvironment(env)).toEqual({ url: 'https://runs.test', token: 'hf_x' })
})

test('without them it is the service on this machine, and empty means not set', () => {
  const local = { url: 'http://localhost:4600', token: undefined }
  expect(fromEnvironment({})).toEqual(local)
  expect(fromEnvironment({ HOLDFAST_URL: '', HOLDFAST_TOKEN: '' })).toEqual(local)
})
