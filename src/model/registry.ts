/**
 * The models one process offers, found by name and version: functions from modules, and declared ones, which are a program, a job or
 * somebody else's work and have no function here.
 */

import { closest } from 'fastest-levenshtein'
import type { ModelDefinition } from '../run/definition.ts'
import type { Model } from './model.ts'

export class Registry {
  readonly #models = new Map<string, Map<string, Model>>()
  readonly #declared = new Map<string, ModelDefinition>()

  constructor(models: Iterable<Model> = []) {
    for (const model of models) this.add(model)
  }

  /** Refuses a second, different model of the same name and version: which of them ran could not be told afterwards. */
  add(model: Model): void {
    if (typeof model.run !== 'function') throw nothingToDo(model)
    const versions = this.#models.get(model.name) ?? new Map<string, Model>()
    const known = versions.get(model.version)
    if (known === model) return
    if (known || this.#declared.has(keyOf(model))) throw definedTwice(model)
    versions.set(model.version, model)
    this.#models.set(model.name, versions)
  }

  /** Adds a model that has no function here. */
  declare(definition: ModelDefinition): void {
    if (this.#declared.has(keyOf(definition)) || this.find(definition.name, definition.version)) {
      throw definedTwice(definition)
    }
    this.#declared.set(keyOf(definition), definition)
  }

  /** The model with its function; a declared one has none. */
  find(name: string, version: string): Model | undefined {
    return this.#models.get(name)?.get(version)
  }

  /** All that is known of a model, with what is never registered: program, environment, secrets. */
  readonly specOf = (name: string, version: string): ModelDefinition | undefined =>
    this.find(name, version)?.definition ?? this.#declared.get(keyOf({ name, version }))

  /** The models with a function. */
  all(): Model[] {
    return [...this.#models.values()].flatMap((versions) => [...versions.values()])
  }

  declared(): ModelDefinition[] {
    return [...this.#declared.values()]
  }

  /** The offered name most like the given one, for error messages. */
  nearestName(name: string): string | undefined {
    const names = [...this.#models.keys(), ...this.declared().map((definition) => definition.name)]
    return names.length === 0 ? undefined : closest(name, names)
  }
}

type Identity = { name: string; version: string }

function keyOf({ name, version }: Identity): string {
  return `${name}@${version}`
}

function nothingToDo(model: Identity): TypeError {
  return new TypeError(`the model ${keyOf(model)} has nothing to do: give it \`run\`, or steps by \`.step(name, …)\``)
}

function definedTwice(model: Identity): Error {
  return new Error(`the model ${keyOf(model)} is defined twice; give one another name or version`)
}
