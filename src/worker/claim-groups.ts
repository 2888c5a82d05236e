/**
 * Which models are claimed together. Models that may run on an executor that says how much room it has, by default or when a request asks for it,
 * are claimed apart from all others, so that a claim takes no more than fits however many models share the room. An executor may count an
 * attempt only once it has placed it, so those on their way to it are taken off.
 */

import type { Executor } from '../executor/executor.ts'
import { allowedExecutors } from '../run/allowed-executors.ts'
import type { ModelDefinition } from '../run/definition.ts'
import type { Room } from './slots.ts'

export type ClaimGroup = {
  /** What the group may claim of what is free. */
  within(room: Room): Room
}

type Offer = Pick<ModelDefinition, 'name' | 'version' | 'executor' | 'executors'>

export function claimGroups(
  definitions: readonly Offer[],
  executors: readonly Executor[],
  placing: (executor: string) => number,
): ClaimGroup[] {
  const bounded = executors.filter((executor) => executor.room)
  if (bounded.length === 0) return [{ within: (room) => room }]
  const groups = new Map<string, { bounds: Executor[]; models: Set<string> }>([['', { bounds: [], models: new Set() }]])
  for (const definition of definitions) {
    const allowed = allowedExecutors(definition)
    const bounds = bounded.filter(({ name }) => allowed.includes(name))
    const key = bounds.map(({ name }) => name).join()
    const group = groups.get(key) ?? { bounds, models: new Set() }
    groups.set(key, group)
    group.models.add(`${definition.name}@${definition.version}`)
  }
  return [...groups.values()].map(({ bounds, models }) => ({
    within: (room) => ({
      ...room,
      slots: Math.min(room.slots, ...bounds.map((bound) => bound.room!() - placing(bound.name))),
      models: room.models.filter(({ model, version }) => models.has(`${model}@${version}`)),
    }),
  }))
}
