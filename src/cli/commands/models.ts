/** `holdfast models check`: says whether a declaration of models can be used, without a database or a service. */

import type { Command } from 'commander'
import { readYamlModels, type YamlModels, yamlProblemLines } from '../../model/yaml-models.ts'
import { allowedExecutors } from '../../run/allowed-executors.ts'
import type { ModelDefinition } from '../../run/definition.ts'
import { publicDefinition } from '../../run/public-definition.ts'

export function addModels(program: Command): void {
  const models = program.command('models').description('look at declared models')
  models
    .command('check [files...]')
    .description('check declarations of models; holdfast.yaml when none is named. Ends with 1 when there is a problem')
    .option('--json', 'print models and problems as JSON')
    .action(check)
}

function check(files: string[], options: { json?: boolean }): void {
  const read = (files.length > 0 ? files : ['holdfast.yaml']).map(readOrExplain)
  if (options.json) print([JSON.stringify(read.map(asJson))])
  else for (const file of read) tell(file)
  if (read.some(({ problems }) => problems.length > 0)) process.exitCode = 1
}

function readOrExplain(path: string): YamlModels {
  try {
    return readYamlModels(path)
  } catch (error) {
    const problem = { line: 1, column: 1, pointer: '', detail: `cannot be read: ${(error as Error).message}` }
    return { path, models: [], problems: [problem] }
  }
}

function tell({ path, models, problems }: YamlModels): void {
  print(models.map(lineOf))
  process.stderr.write(
    yamlProblemLines(path, problems)
      .map((line) => `${line}\n`)
      .join(''),
  )
}

function lineOf(definition: ModelDefinition): string {
  const { name, version, queue, description } = definition
  const executors = allowedExecutors(definition).join(', ')
  return `${name}@${version}  ${executors}  queue ${queue}${description ? `  ${description}` : ''}`
}

/** Without what never leaves the worker: this is often printed where others can read it. */
function asJson({ path, models, problems }: YamlModels) {
  return { path, ok: problems.length === 0, models: models.map(publicDefinition), problems }
}

function print(lines: string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''))
}
