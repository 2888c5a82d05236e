/** The models one process offers, found by name and version. */

import { closest } from 'fastest-levenshtein'
import type { Model } from './model.ts'

export class Registry {
  readonly #models = new Map<string, Map<string, Model>>()

  constructor(models: Iterable<Model> = []) {
    for (const model of models) this.add(model)
  }

  /** Refuses a second, different model of the same name and version: which of them ran could not be told afterwards. */
  add(model: Model): void {
    const versions = this.#models.get(model.name) ?? new Map<string, Model>()
    const known = versions.get(model.version)
    if (known === model) return
    if (known) {
      throw new Error(`the model ${model.name}@${model.version} is defined twice; give one another name or version`)
    }
    versions.set(model.version, model)
    this.#models.set(model.name, versions)
  }

  find(name: string, version: string): Model | undefined {
    return this.#models.get(name)?.get(version)
  }

  all(): Model[] {
    return [...this.#models.values()].flatMap((versions) => [...versions.values()])
  }

  /** The offered name most like the given one, for error messages. */
  nearestName(name: string): string | undefined {
    return this.#models.size === 0 ? undefined : closest(name, [...this.#models.keys()])
  }
}
