/**
 * The part of a definition that is registered and shown. How a worker runs a model — program, environment, secrets, paths — is left out by
 * listing what stays, so that a part added later is private until someone decides otherwise.
 */

import type { ModelDefinition } from './definition.ts'

export type PublicDefinition = Omit<ModelDefinition, 'command' | 'python' | 'ray' | 'kubernetes'>

export function publicDefinition(definition: ModelDefinition): PublicDefinition {
  return {
    name: definition.name,
    version: definition.version,
    description: definition.description,
    parametersSchema: definition.parametersSchema,
    ignoreInHash: definition.ignoreInHash,
    volatile: definition.volatile,
    ...(definition.facets && { facets: definition.facets }),
    ...(definition.places !== undefined && { places: definition.places }),
    ...(definition.steps && { steps: definition.steps }),
    queue: definition.queue,
    priority: definition.priority,
    executor: definition.executor,
    ...(definition.executors && { executors: definition.executors }),
    retry: definition.retry,
    timeoutSeconds: definition.timeoutSeconds,
    expectedSeconds: definition.expectedSeconds,
    concurrency: definition.concurrency,
    ...(definition.cost && { cost: definition.cost }),
    ...(definition.runsPerKey && { runsPerKey: definition.runsPerKey }),
  }
}
