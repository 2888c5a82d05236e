import { afterEach, describe, expect, it, vi } from 'vitest'
import { environment, readEnvironment } from './read-environment.ts'

describe('the environment of this process', () => {
  afterEach(() => vi.unstubAllEnvs())

  it('is the configuration', () => {
    vi.stubEnv('HOLDFAST_PORT', '4711')
    expect(readEnvironment().http.port).toBe(4711)
  })

  it('yields to what the command line says', () => {
    vi.stubEnv('HOLDFAST_QUEUES', 'default')
    vi.stubEnv('HOLDFAST_CONCURRENCY', '7')
    const { worker } = readEnvironment({ HOLDFAST_QUEUES: 'gpu:2', HOLDFAST_CONCURRENCY: undefined })
    expect(worker).toMatchObject({ queues: [{ name: 'gpu', limit: 2 }], concurrency: 7 })
  })

  it('is handed to a child of ours as a copy', () => {
    vi.stubEnv('ONE', '1')
    const copy = environment()
    copy.ONE = '2'
    expect(process.env.ONE).toBe('1')
  })
})
