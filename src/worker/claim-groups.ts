/**
 * Which models are claimed together. Executors that say how much room they have are asked for their models alone, so that a claim takes no more
 * than fits however many models share the room; all other models are one group. An executor may count an attempt only once it has placed it, so
 * those on their way to it are taken off.
 */

import type { Executor } from '../executor/executor.ts'
import type { ModelDefinition } from '../run/definition.ts'
import type { Room } from './slots.ts'

export type ClaimGroup = {
  /** What the group may claim of what is free. */
  within(room: Room): Room
}

export function claimGroups(
  definitions: readonly Pick<ModelDefinition, 'name' | 'version' | 'executor'>[],
  executors: readonly Executor[],
  placing: (executor: string) => number,
): ClaimGroup[] {
  const bounded = executors.filter((executor) => executor.room)
  if (bounded.length === 0) return [{ within: (room) => room }]
  const executorOf = new Map(definitions.map(({ name, version, executor }) => [`${name}@${version}`, executor]))
  const only = ({ models, ...room }: Room, has: (executor: string | undefined) => boolean): Room => ({
    ...room,
    models: models.filter(({ model, version }) => has(executorOf.get(`${model}@${version}`))),
  })
  const names = new Set(bounded.map(({ name }) => name))
  return [
    { within: (room) => only(room, (executor) => executor === undefined || !names.has(executor)) },
    ...bounded.map((bound) => ({
      within: (room: Room) => ({
        ...only(room, (executor) => executor === bound.name),
        slots: Math.min(room.slots, bound.room!() - placing(bound.name)),
      }),
    })),
  ]
}
