/** A filter in words, as chips and dialogs say it. Pure. */

import { formatMoment } from '../../parts/format.ts'
import type { Condition, FilterName } from './filter.ts'

export const NAMES: Record<FilterName, string> = {
  status: 'Status',
  model: 'Model',
  model_version: 'Model version',
  owner: 'Owner',
  queue: 'Queue',
  tag: 'Tag',
  error_class: 'Error class',
  batch_id: 'Batch',
  facet: 'Facet',
  waiting: 'Waiting for',
  text: 'Text',
  created_after: 'Created',
  created_before: 'Created',
  overdue: 'Overdue',
  near: 'Place near',
  bbox: 'Place in',
}

/** What stands between name and value. */
export function verbOf({ name, isNot }: Condition): string {
  if (name === 'text') return isNot ? 'does not begin with' : 'begins with'
  if (name === 'created_after') return 'since'
  if (name === 'created_before') return 'before'
  if (name === 'waiting' || name === 'near' || name === 'bbox') return ''
  return isNot ? 'is not' : 'is'
}

export function shownValue({ name, value }: Condition, timeZone?: string): string {
  if (name === 'overdue') return value === 'true' ? 'overdue' : value
  if (name === 'created_after' || name === 'created_before') {
    return Number.isNaN(Date.parse(value)) ? value : formatMoment(value, timeZone)
  }
  return value
}

export function wordsOf(condition: Condition, timeZone?: string): string {
  const name = condition.name === 'overdue' ? 'Run' : NAMES[condition.name]
  return [name, verbOf(condition), shownValue(condition, timeZone)].filter(Boolean).join(' ')
}

/** One sentence: values of one name are joined by or, names by and. */
export function sentenceOf(conditions: readonly Condition[], timeZone?: string): string {
  const groups = new Map<string, Condition[]>()
  for (const condition of conditions) {
    const key = `${condition.isNot} ${condition.name}`
    groups.set(key, [...(groups.get(key) ?? []), condition])
  }
  return [...groups.values()]
    .map(([first, ...others]) => {
      const joint = first!.isNot ? ' nor ' : ' or '
      return [wordsOf(first!, timeZone), ...others.map((one) => shownValue(one, timeZone))].join(joint)
    })
    .map((words, index) => (index === 0 ? words : words.charAt(0).toLowerCase() + words.slice(1)))
    .join(', and ')
}
