/**
 * Which runs a bulk operation is about: those of the filter that its action can do something with. The history of finished runs is
 * never walked to cancel, and successes and cancelled runs are retried only when the filter names them.
 */

import type { BulkBody } from '../contract/bulk.ts'
import { RunFilterJson, type RunFilterValues } from '../contract/run-filter.ts'
import { Refusal } from '../run/errors.ts'
import type { RunStatus } from '../run/status.ts'
import type { BulkAction, BulkOperation } from '../store/ports/bulk.ts'
import type { RunFilter } from '../store/ports/search.ts'
import { runFilterOf } from './run-filter.ts'

const POSSIBLE: Record<BulkAction, readonly RunStatus[]> = {
  cancel: ['PENDING', 'RUNNING'],
  retry: ['SUCCEEDED', 'FAILED', 'CANCELLED'],
}
const USUAL: Record<BulkAction, readonly RunStatus[]> = { cancel: POSSIBLE.cancel, retry: ['FAILED'] }

/** Throws for a filter that names nothing, or only runs that the action cannot be applied to. */
export function checkBulkFilter({ action, filter }: BulkBody): void {
  const named = Object.values(filter).some((value) => value !== undefined && value !== null)
  if (!named) throw refused('/filter', 'must name at least one condition; it is not meant to match every run')
  if (statusesOf(action, filter).length === 0) {
    throw refused('/filter/status', `names no status that can be part of a ${action}: ${POSSIBLE[action].join(', ')}`)
  }
}

export function bulkFilterOf(action: BulkAction, values: RunFilterValues, sees: string | null): RunFilter {
  const filter = runFilterOf(values, { sees })
  return { ...filter, status: { is: statusesOf(action, values), not: filter.status.not } }
}

/** The filter of a stored operation. Runs made after it was asked for are not part of it, so it never meets its own. */
export function filterOfOperation({ action, filter, sees, createdBefore }: BulkOperation): RunFilter {
  const wanted = bulkFilterOf(action, RunFilterJson.parse(filter), sees)
  const asked = wanted.createdBefore
  const isEarlier = asked !== null && Date.parse(asked) < Date.parse(createdBefore)
  return { ...wanted, createdBefore: isEarlier ? asked : createdBefore }
}

function statusesOf(action: BulkAction, { status }: RunFilterValues): RunStatus[] {
  return (status ?? USUAL[action]).filter((one) => POSSIBLE[action].includes(one))
}

function refused(pointer: string, detail: string): Refusal {
  return new Refusal('invalid-body', `${pointer} ${detail}.`, { errors: [{ pointer, detail }] })
}
