/** The models a worker offers when HOLDFAST_MODELS names none: the examples, and those declared in the folder it was started in. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const EXAMPLES = ['../../examples/baseline-forecast.ts', '../../examples/document-pipeline/document-pipeline.ts']
const DECLARATIONS = ['holdfast.yaml', 'holdfast.yml']

export function exampleModels(folder: string): string[] {
  const examples = EXAMPLES.map((example) => fileURLToPath(new URL(example, import.meta.url)))
  const declared = DECLARATIONS.map((name) => join(folder, name)).filter((path) => existsSync(path))
  return [...examples, ...declared]
}
