/** One value of JSON on one line: text only, short, and what is hidden is told as hidden. */

import { formatNumber } from './format.ts'
import classes from './json-view.module.css'
import { type JsonRow, namesOf, REDACTED } from './json-view-tree.ts'

const TEXT_LENGTH_MAX = 300
const PREVIEW_LENGTH_MAX = 90

export function JsonValue({ row, isOpen }: { row: JsonRow; isOpen: boolean }) {
  const { value, size, group } = row
  if (group) {
    return (
      <span className={classes.count}>
        {formatNumber(group.from)} … {formatNumber(group.to)}
      </span>
    )
  }
  if (size !== null) {
    return (
      <span className={classes.count}>
        {sizeWords(value, size)} {isOpen ? '' : previewOf(value)}
      </span>
    )
  }
  if (value === REDACTED) return <span className={classes.redacted}>{REDACTED}</span>
  if (typeof value === 'string') return <span className={classes.text}>{quoted(value, TEXT_LENGTH_MAX)}</span>
  return <span className={typeof value === 'number' ? classes.number : classes.word}>{String(value)}</span>
}

export function sizeWords(value: unknown, size: number): string {
  if (Array.isArray(value)) return size === 0 ? '[ ]' : `[ ${formatNumber(size)} ${size === 1 ? 'item' : 'items'} ]`
  return size === 0 ? '{ }' : `{ ${formatNumber(size)} ${size === 1 ? 'name' : 'names'} }`
}

function quoted(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return JSON.stringify(text)
  return `${JSON.stringify(text.slice(0, lengthMax))}… ${formatNumber(text.length)} characters`
}

/** The first single values inside, so that one need not open it to know what it is. */
function previewOf(value: unknown): string {
  const names = Array.isArray(value) ? null : namesOf(value as object)
  const size = names ? names.length : (value as unknown[]).length
  let text = ''
  for (let index = 0; index < size && text.length < PREVIEW_LENGTH_MAX; index += 1) {
    const inside = names ? (value as Record<string, unknown>)[names[index]!] : (value as unknown[])[index]
    const shown = typeof inside === 'object' && inside !== null ? '…' : quoted40(inside)
    text += `${text && ', '}${names ? `${names[index]!.slice(0, 40)}: ` : ''}${shown}`
  }
  return text.slice(0, PREVIEW_LENGTH_MAX) + (text.length > PREVIEW_LENGTH_MAX ? '…' : '')
}

function quoted40(value: unknown): string {
  if (typeof value !== 'string') return String(value)
  return value === REDACTED ? value : JSON.stringify(value.slice(0, 40)) + (value.length > 40 ? '…' : '')
}
