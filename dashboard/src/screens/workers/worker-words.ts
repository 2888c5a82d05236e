/** Workers in words: how alive one is, and what it takes. */

import type { Worker, WorkerState } from '@holdfast/client'
import type { Named } from '../../parts/name-list.tsx'
import type { Look } from '../../parts/tone-badge.tsx'

export const STATES: WorkerState[] = ['live', 'silent', 'stopped']

export const LOOKS: Record<WorkerState, Look> = {
  live: { word: 'LIVE', shape: '●', tone: 'good' },
  silent: { word: 'SILENT', shape: '▲', tone: 'bad' },
  stopped: { word: 'STOPPED', shape: '■', tone: 'quiet' },
}

export function stateNamed(name: string | undefined): WorkerState | undefined {
  return STATES.find((state) => state === name)
}

export function queuesOf({ queues }: Worker): Named[] {
  return queues.map(({ queue, limit }) => ({ name: queue, to: '/queues', search: { queue }, note: atMost(limit) }))
}

/** What it offers is told as `name@version`; a name alone is all versions. */
export function modelsOf({ models }: Worker): Named[] {
  return models.map(({ model: offered, limit }) => {
    const [, model = offered, version] = /^(.*)@([^@]*)$/.exec(offered) ?? []
    return { name: offered, to: '/models', search: { model, version }, note: atMost(limit) }
  })
}

function atMost(limit: number | null): string | null {
  return limit === null ? null : `at most ${limit}`
}
