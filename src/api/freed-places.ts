/** Runs that got a place of their concurrency key, or lost it to a newer one: whom to tell, and giving places away when a run has ended here. */

import type { FreedRun, StoppedRun } from '../store/ports/blocks.ts'
import type { ApiDeps } from './api.ts'

/** Queues that have work now, and workers whose run was asked to stop. */
export function tellOf(
  { freed, stopped }: { freed: FreedRun[]; stopped: StoppedRun[] },
  wakeup: Pick<ApiDeps['wakeup'], 'hint'>,
): void {
  const byQueue = new Map(freed.map(({ queue, runId }) => [queue, runId]))
  for (const [queue, runId] of byQueue) wakeup.hint(`queue:${queue}`, runId)
  for (const { holder, runId } of stopped) wakeup.hint(`worker:${holder}`, runId)
}

export type PlacesDeps = {
  store: { blocks: Pick<ApiDeps['store']['blocks'], 'promoteAfter'> }
  wakeup: Pick<ApiDeps['wakeup'], 'hint'>
}

/** Gives the place of a run that has ended away soon after it is called; calls during one round are one more round. What fails is left to the janitor. */
export function createPlacesSignal({ store, wakeup }: PlacesDeps): (runId: string) => void {
  let isUnderWay = false
  let ended: string[] = []
  return (runId) => {
    ended.push(runId)
    if (!isUnderWay) void rounds()
  }

  async function rounds(): Promise<void> {
    isUnderWay = true
    while (ended.length > 0) {
      const runIds = ended
      ended = []
      await store.blocks.promoteAfter(runIds).then(
        (given) => tellOf(given, wakeup),
        () => {},
      )
    }
    isUnderWay = false
  }
}
