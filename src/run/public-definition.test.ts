import { expect, test } from 'vitest'
import type { ModelDefinition } from './definition.ts'
import { publicDefinition } from './public-definition.ts'

const SHOWN: ModelDefinition = {
  name: 'price',
  version: '1',
  description: null,
  parametersSchema: { type: 'object' },
  ignoreInHash: [],
  volatile: [],
  queue: 'default',
  priority: 0,
  executor: 'command',
  executors: ['command', 'ray'],
  retry: {},
  timeoutSeconds: null,
  expectedSeconds: null,
  concurrency: null,
}

test('how a worker runs a model is not part of what is shown', () => {
  const full: ModelDefinition = {
    ...SHOWN,
    command: { argv: ['canary'], folder: '/canary', env: { A: 'canary' }, secrets: { B: '/canary' } },
    python: { callable: 'canary:f', folder: '/canary' },
    ray: { cluster: 'canary', runtimeEnv: { env_vars: { A: 'canary' } } },
    kubernetes: { image: 'canary' },
  }
  expect(publicDefinition(full)).toEqual(SHOWN)
})

test('a part that is added later is private until it is listed', () => {
  expect(publicDefinition({ ...SHOWN, later: 'canary' } as ModelDefinition)).toEqual(SHOWN)
})
