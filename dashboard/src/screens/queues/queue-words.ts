/** Queues in words: their state at a glance, and what pausing or resuming one will do. */

import type { Queue } from '@holdfast/client'
import { formatCount } from '../../parts/format.ts'
import type { Look } from '../../parts/tone-badge.tsx'

export function lookOf({ paused, live_workers: workers, pending, running }: Queue): Look {
  if (paused) return { word: 'PAUSED', shape: '‖', tone: 'waiting' }
  if (workers > 0) return { word: 'SERVED', shape: '●', tone: 'good' }
  return pending + running > 0
    ? { word: 'NO WORKER', shape: '▲', tone: 'bad' }
    : { word: 'NO WORKER', shape: '○', tone: 'quiet' }
}

export function pauseWords({ pending, pending_capped: isCapped, running, running_capped: isMore }: Queue): string {
  const waiting = pending === 0 ? 'Nothing waits in it now.' : `${runs(pending, isCapped)} in it until it is resumed.`
  const going = running === 0 ? '' : ` What runs goes on (${formatCount(running, isMore)}).`
  return `Nothing new is started. ${waiting}${going}`
}

export function resumeWords({ pending, pending_capped: isCapped, live_workers: workers }: Queue): string {
  if (pending === 0) return 'Nothing waits in it now.'
  const waiting = pending === 1 && !isCapped ? '1 waiting run' : `${formatCount(pending, isCapped)} waiting runs`
  return workers === 0
    ? `${waiting} may start, but no live worker serves this queue.`
    : `${waiting} may start, as soon as there are places.`
}

function runs(count: number, isCapped: boolean): string {
  return count === 1 && !isCapped ? '1 run waits' : `${formatCount(count, isCapped)} runs wait`
}
