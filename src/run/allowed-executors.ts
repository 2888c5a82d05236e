/** Which executors a run of a model may ask for. */

import type { ModelDefinition } from './definition.ts'

type Choice = Pick<ModelDefinition, 'executor' | 'executors'>

/** The default first. A function can always be called in a child process, which is safer than where it asks to be called. */
export function allowedExecutors({ executor, executors }: Choice): string[] {
  const others = executors ?? (executor === 'inline' ? ['process'] : [])
  return [...new Set([executor, ...others])]
}

/** Runs of these are executed by whoever leases them over HTTP; our own workers leave them alone. */
const LEASED_ELSEWHERE = ['remote']

export function isLeasedElsewhere({ executor }: Choice): boolean {
  return LEASED_ELSEWHERE.includes(executor)
}
