/** The models a worker offers when HOLDFAST_MODELS names none. */

import { fileURLToPath } from 'node:url'

const EXAMPLES = ['../../examples/baseline-forecast.ts']

export function exampleModels(): string[] {
  return EXAMPLES.map((example) => fileURLToPath(new URL(example, import.meta.url)))
}
