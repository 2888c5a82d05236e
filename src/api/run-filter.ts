/** From a checked filter, of a query or of JSON, to the one the store understands. Whose runs may be seen is never the filter's choice. */

import type { RunFilterValues } from '../contract/run-filter.ts'
import { type Area, boxOf, circleOf } from '../run/area.ts'
import type { Match, RunFilter } from '../store/ports/search.ts'
import type { Principal } from './principal.ts'

export function runFilterOf(values: RunFilterValues, { sees }: Pick<Principal, 'sees'>): RunFilter {
  return {
    sees,
    status: match(values.status, values.not_status),
    model: match(values.model, values.not_model),
    modelVersion: match(values.model_version, values.not_model_version),
    owner: match(values.owner, values.not_owner),
    queue: match(values.queue, values.not_queue),
    tag: match(values.tag, values.not_tag),
    batchId: match(values.batch_id, values.not_batch_id),
    errorClass: match(values.error_class, values.not_error_class),
    createdAfter: values.created_after ?? null,
    createdBefore: values.created_before ?? null,
    text: values.text ?? null,
    notText: values.not_text ?? null,
    facet: match(values.facet, values.not_facet),
    areas: areasOf(values),
    overdue: values.overdue ?? null,
    waiting: match(values.waiting, null),
  }
}

function areasOf({ near, bbox }: RunFilterValues): Area[] {
  const circle = near ? circleOf(near) : null
  const box = bbox ? boxOf(bbox) : null
  return [...(circle ? [{ circle }] : []), ...(box ? [{ box }] : [])]
}

function match<Value extends string>(is: Value[] | null | undefined, not: Value[] | null | undefined): Match<Value> {
  return { is: is ?? null, not: not ?? [] }
}
