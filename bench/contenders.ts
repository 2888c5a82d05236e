/**
 * The contenders by name. Loaded one at a time in a worker process, so that none carries the weight of the others.
 */

import type { Contender } from './contender.ts'

const LOADERS: Record<string, () => Promise<{ contender: Contender }>> = {
  holdfast: () => import('./holdfast.ts'),
  'graphile-worker': () => import('./graphile-worker.ts'),
  'pg-boss': () => import('./pg-boss.ts'),
  'hand-written': () => import('./hand-written.ts'),
}

export const CONTENDER_NAMES = Object.keys(LOADERS)

export async function loadContender(name: string): Promise<Contender> {
  const load = LOADERS[name]
  if (!load) throw new Error(`no contender is called ${name}; there are ${CONTENDER_NAMES.join(', ')}`)
  return (await load()).contender
}
