/**
 * Models declared without TypeScript, in a `holdfast.yaml`.
 *
 * `readYamlModels` answers every problem of a file at once, each with line and column; nothing of a file with problems is used.
 */

import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { ModelDefinition } from '../run/definition.ts'
import { jsonPointer } from '../run/json-pointer.ts'
import { defineYamlModel, type Misfit } from './yaml-definition.ts'
import { readYaml, type YamlFile, type YamlProblem } from './yaml-read.ts'
import { YamlDeclarations, type YamlModel } from './yaml-schema.ts'
import { problemsOf } from './yaml-words.ts'

export type YamlModels = { path: string; models: ModelDefinition[]; problems: YamlProblem[] }

/** Throws only when the file cannot be read. Relative paths in it start at its own folder. */
export function readYamlModels(path: string): YamlModels {
  const absolute = resolve(path)
  return { path: absolute, ...yamlModelsOf(readFileSync(absolute), dirname(absolute)) }
}

export function yamlModelsOf(bytes: Uint8Array, folder: string): Omit<YamlModels, 'path'> {
  const file = readYaml(bytes)
  if (file.problems.length > 0) return { models: [], problems: file.problems }
  const parsed = YamlDeclarations.safeParse(file.value)
  if (!parsed.success) return { models: [], problems: inOrder(problemsOf(parsed.error, YamlDeclarations, file)) }
  const defined = parsed.data.models.map((model) => defineYamlModel(model, folder))
  const problems = defined.flatMap(({ misfits }, index) => misfits.map((misfit) => placed(misfit, index, file)))
  problems.push(...twice(parsed.data.models, file))
  return { models: problems.length > 0 ? [] : defined.map(({ definition }) => definition), problems: inOrder(problems) }
}

/** One line per problem, as compilers write them, so that editors find the place. */
export function yamlProblemLines(path: string, problems: readonly YamlProblem[]): string[] {
  return problems.map(({ line, column, pointer, detail }) => {
    return `${path}:${line}:${column}: ${pointer === '' ? '' : `${pointer}: `}${detail}`
  })
}

function placed({ at, detail, ofKey }: Misfit, index: number, file: YamlFile): YamlProblem {
  const pointer = jsonPointer(['models', index]) + at
  return { ...file.placeOf(pointer, ofKey), pointer, detail }
}

function twice(models: YamlModel[], file: YamlFile): YamlProblem[] {
  const seen = new Set<string>()
  return models.flatMap(({ name, version = '1' }, index) => {
    const id = `${name}@${version}`
    if (!seen.has(id)) {
      seen.add(id)
      return []
    }
    return [placed({ at: '/name', detail: `the model ${id} is here twice` }, index, file)]
  })
}

function inOrder(problems: YamlProblem[]): YamlProblem[] {
  return problems.toSorted((a, b) => a.line - b.line || a.column - b.column)
}
