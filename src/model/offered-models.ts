/**
 * Which of the models a worker knows it takes runs of. What remote workers lease is left to them, and a model that may be asked to run on
 * an executor this worker has not is left to workers that have it: a run may not fail for where it happened to be claimed.
 */

import { allowedExecutors, isLeasedElsewhere } from '../run/allowed-executors.ts'
import type { ModelDefinition } from '../run/definition.ts'

export type Offered = {
  offered: ModelDefinition[]
  /** Registered so that runs of them can be submitted, and not taken here. */
  leftToOthers: ModelDefinition[]
  /** Of those, the ones that lack an executor here. */
  lacking: { model: string; executors: string[] }[]
}

export function offeredModels(definitions: readonly ModelDefinition[], executors: readonly string[]): Offered {
  const offered: ModelDefinition[] = []
  const leftToOthers: ModelDefinition[] = []
  const lacking: Offered['lacking'] = []
  for (const definition of definitions) {
    const missing = allowedExecutors(definition).filter((name) => !executors.includes(name))
    if (isLeasedElsewhere(definition)) leftToOthers.push(definition)
    else if (missing.length === 0) offered.push(definition)
    else {
      leftToOthers.push(definition)
      lacking.push({ model: `${definition.name}@${definition.version}`, executors: missing })
    }
  }
  return { offered, leftToOthers, lacking }
}
