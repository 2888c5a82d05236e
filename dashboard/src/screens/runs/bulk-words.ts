/** What a bulk operation will do, does and did, in words. Pure. */

import type { BulkAction, BulkCount, BulkOperation, BulkOutcome } from '@holdfast/client'
import { formatNumber } from '../../parts/format.ts'
import type { Condition } from './filter.ts'

export const OUTCOMES: Record<BulkOutcome, string> = {
  retried: 'Retried',
  cancelled: 'Cancelled',
  cancel_requested: 'Asked to stop',
  already_retrying: 'Being retried already',
  already_finished: 'Had finished already',
  refused: 'Refused',
  not_found: 'Not found',
}

/** Those that people should look at come first. */
const ORDER: BulkOutcome[] = [
  'refused',
  'not_found',
  'retried',
  'cancelled',
  'cancel_requested',
  'already_retrying',
  'already_finished',
]

export function outcomesOf({ counts }: BulkOperation): { outcome: BulkOutcome; count: number }[] {
  return ORDER.map((outcome) => ({ outcome, count: counts[outcome] })).filter(({ count }) => count > 0)
}

/** What the service needs to be told when nothing was filtered: it takes no filter that says nothing. */
const EVERYTHING: Record<BulkAction, Condition[]> = {
  cancel: [
    { name: 'status', isNot: false, value: 'PENDING' },
    { name: 'status', isNot: false, value: 'RUNNING' },
  ],
  retry: [{ name: 'status', isNot: false, value: 'FAILED' }],
}

export function bulkConditions(action: BulkAction, conditions: readonly Condition[]): readonly Condition[] {
  return conditions.length === 0 ? EVERYTHING[action] : conditions
}

export function runsWords({ count, capped }: BulkCount): string {
  const runs = count === 1 && !capped ? '1 run' : `${formatNumber(count)} runs`
  return capped ? `at least ${runs}` : runs
}

export function whatHappens(action: BulkAction, conditions: readonly Condition[]): string {
  if (action === 'cancel') {
    return 'Runs that wait are cancelled at once; running ones are asked to stop, and what they have done so far is lost. Finished runs are left alone.'
  }
  const asked = conditions.filter(({ name, isNot }) => name === 'status' && !isNot).map(({ value }) => value)
  const which = asked.filter((status) => status === 'SUCCEEDED' || status === 'CANCELLED' || status === 'FAILED')
  const words = which.length === 0 ? 'FAILED' : which.join(' or ')
  return `Each ${words} run is submitted again with the same input, as a new run that is linked to it. Those that are being retried already are not retried twice.`
}

export function actWords(action: BulkAction, count: BulkCount): string {
  const verb = action === 'cancel' ? 'Cancel' : 'Retry'
  return `${verb} ${runsWords(count)}`
}

/** One line about where it is. */
export function stateWords(
  { action, state, processed, cancel_requested_at }: BulkOperation,
  total: number | null,
): string {
  const what = action === 'cancel' ? 'Cancelling' : 'Retrying'
  const done =
    total !== null && total >= processed
      ? `${formatNumber(processed)} of ${formatNumber(total)}`
      : formatNumber(processed)
  if (state === 'RUNNING') return cancel_requested_at ? `Stopping after ${done} runs` : `${what} runs: ${done} done`
  const noun = action === 'cancel' ? 'Cancel' : 'Retry'
  const runs = processed === 1 ? '1 run' : `${formatNumber(processed)} runs`
  if (state === 'DONE') return `${noun} finished: ${runs} looked at`
  return state === 'CANCELLED' ? `${noun} stopped after ${runs}` : `${noun} failed after ${runs}`
}
