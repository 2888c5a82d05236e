/**
 * Loads the models a process offers from the modules a user names: files (`models/forecast.ts`, `./a.js`, `file:` URLs) or packages, and
 * from declarations (`holdfast.yaml`).
 *
 * Every export that is a model counts: the default one, named ones, and lists of models. What goes wrong is told with the file,
 * the line where there is one, and the cure.
 */

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isModel, type Model } from './model.ts'
import { Registry } from './registry.ts'

export class ModelsNotLoaded extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ModelsNotLoaded'
  }
}

/** Relative names start at the folder `from`. Throws ModelsNotLoaded. */
export async function loadModels(specifiers: readonly string[], from: string): Promise<Registry> {
  const registry = new Registry()
  const files = new Set<string>()
  for (const specifier of specifiers) {
    if (isYamlFile(specifier)) {
      const path = specifier.startsWith('file:') ? fileURLToPath(specifier) : resolve(from, specifier)
      if (!files.has(path)) await declareFrom(path, specifier, registry)
      files.add(path)
      continue
    }
    const exported = await importModule(specifier, from)
    const models = modelsIn(exported)
    if (models.length === 0) throw new ModelsNotLoaded(noModel(specifier, Object.keys(exported)))
    try {
      for (const model of models) registry.add(model)
    } catch (cause) {
      throw new ModelsNotLoaded(`${specifier}: ${(cause as Error).message}`, { cause })
    }
  }
  return registry
}

export function isYamlFile(specifier: string): boolean {
  return /\.ya?ml$/i.test(specifier)
}

/** The reader is loaded only where there is a file to read: pool children never need it. */
async function declareFrom(path: string, specifier: string, registry: Registry): Promise<void> {
  existing(path, specifier)
  const { readYamlModels, yamlProblemLines } = await import('./yaml-models.ts')
  const { models, problems } = readYamlModels(path)
  if (problems.length > 0) {
    throw new ModelsNotLoaded(
      `the models ${specifier} are not declared correctly:\n${yamlProblemLines(path, problems).join('\n')}`,
    )
  }
  try {
    for (const definition of models) registry.declare(definition)
  } catch (cause) {
    throw new ModelsNotLoaded(`${specifier}: ${(cause as Error).message}`, { cause })
  }
}

async function importModule(specifier: string, from: string): Promise<Record<string, unknown>> {
  const url = locate(specifier, from)
  try {
    return await import(url)
  } catch (cause) {
    throw new ModelsNotLoaded(explain(specifier, cause), { cause })
  }
}

/** What looks like a path is a path; any other name is a file when there is one, else a package. */
function locate(specifier: string, from: string): string {
  if (specifier.startsWith('file:')) return existing(fileURLToPath(specifier), specifier)
  const path = resolve(from, specifier)
  if (/^\.{0,2}\//.test(specifier) || /\.[cm]?[jt]s$/.test(specifier)) return existing(path, specifier)
  if (existsSync(path) && /\.[cm]?[jt]s$/.test(path)) return pathToFileURL(path).href
  try {
    return pathToFileURL(createRequire(resolve(from, 'package.json')).resolve(specifier)).href
  } catch {
    // A package that only states an `import` entry is invisible to require; the import itself then decides.
    return specifier
  }
}

function existing(path: string, specifier: string): string {
  if (existsSync(path)) return pathToFileURL(path).href
  throw new ModelsNotLoaded(`there is no file for the models ${specifier}: tried ${path}`)
}

function modelsIn(exported: Record<string, unknown>): Model[] {
  const found = Object.values(exported).flatMap((value) => (Array.isArray(value) ? value : [value]))
  return [...new Set(found.filter(isModel))]
}

function noModel(specifier: string, names: string[]): string {
  const there = names.length === 0 ? 'it exports nothing' : `it exports ${names.join(', ')}, none of which is a model`
  return `${specifier} offers no model: ${there}. Export what model({...}) returns.`
}

const CURES: [pattern: RegExp, cure: string][] = [
  [/enum/, 'Use a constant object and a union type instead: const Color = { red: 1 } as const.'],
  [/parameter property/, 'Declare the field in the class and assign it in the constructor.'],
  [/namespace|module/, 'Use a module of its own, or a constant object.'],
  [/import equals/, "Write import x from '...' or import * as x from '...'."],
  [/export assignment/, 'Write export default.'],
]

function explain(specifier: string, cause: unknown): string {
  const { code, message = String(cause) } = (cause ?? {}) as { code?: string; message?: string }
  const place = placeOf(cause) ?? specifier
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') {
    const cure =
      CURES.find(([pattern]) => pattern.test(message))?.[1] ?? 'Use only syntax that disappears with the types.'
    return (
      `${place}: ${message}. Node runs TypeScript by removing the types, and this is more than a type. ${cure} ` +
      'The compiler option erasableSyntaxOnly finds all such places.'
    )
  }
  if (code === 'ERR_MODULE_NOT_FOUND' || code === 'ERR_UNSUPPORTED_DIR_IMPORT') {
    return `the models ${specifier} could not be loaded: ${message}. Imports of files need their extension, as in './x.ts'.`
  }
  return `the models ${specifier} could not be loaded: ${place === specifier ? '' : `${place}: `}${message}`
}

/** A syntax error's stack starts with `file:line`, then the line itself; its message and fields do not have the place. */
function placeOf(cause: unknown): string | undefined {
  if (!(cause instanceof SyntaxError)) return undefined
  const first = cause.stack?.split('\n', 1)[0] ?? ''
  const [, file, line] = /^(.+):(\d+)$/.exec(first) ?? []
  if (file === undefined) return undefined
  return `${file.startsWith('file:') ? fileURLToPath(file) : file}:${line}`
}
