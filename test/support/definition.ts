/** A model as a worker registers it, for tests that care about a few of its names. */

import type { ModelDefinition } from '../../src/run/definition.ts'

export function definition(changes: Partial<ModelDefinition> = {}): ModelDefinition {
  return {
    name: 'forecast',
    version: '1',
    description: null,
    parametersSchema: { type: 'object' },
    ignoreInHash: [],
    volatile: [],
    queue: 'default',
    priority: 0,
    executor: 'process',
    retry: {},
    timeoutSeconds: null,
    expectedSeconds: null,
    concurrency: null,
    ...changes,
  }
}
