/** What the end of an attempt says about the cost of its run: something where the model has a cost, or where the attempt reported one. */

import type { ModelDefinition } from './definition.ts'

export function settledCost(
  definition: Pick<ModelDefinition, 'cost'> | undefined,
  reported: number | null,
): { cost?: { reported: number | null } } {
  return definition?.cost || reported !== null ? { cost: { reported } } : NONE
}

const NONE = {}
