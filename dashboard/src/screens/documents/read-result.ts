/**
 * The result of a document for somebody who does not read JSON: names in words, lists in a line, long texts as texts. What is too deep or
 * too much is counted; the details have all of it.
 */

export type ResultLine = { label: string; value: string }
export type ReadResult = { text: string | null; lines: ResultLine[]; more: number }

const LINES_MAX = 24
const ITEMS_MAX = 8
const VALUE_LENGTH_MAX = 400
const TEXT_NAMES = ['summary', 'abstract', 'text']
const SECTIONS_DEEP = 2

export function readResult(result: unknown): ReadResult {
  if (!isObject(result)) return { text: null, lines: [{ label: 'Result', value: valueText(result) }], more: 0 }
  const textName = TEXT_NAMES.find((name) => typeof result[name] === 'string' && result[name] !== '')
  const lines = linesOf(result, '', 1).filter(({ name }) => name !== textName)
  return {
    text: textName === undefined ? null : shortened(String(result[textName]), 2_000),
    lines: lines.slice(0, LINES_MAX).map(({ label, value }) => ({ label, value })),
    more: Math.max(0, lines.length - LINES_MAX),
  }
}

type Line = ResultLine & { name: string }

function linesOf(value: Record<string, unknown>, before: string, depth: number): Line[] {
  return Object.entries(value).flatMap(([name, inner]): Line[] => {
    const label = before === '' ? capital(inWords(name)) : `${before}: ${inWords(name)}`
    if (isNothing(inner)) return []
    if (isObject(inner) && depth < SECTIONS_DEEP) return linesOf(inner, label, depth + 1)
    return [{ name: before === '' ? name : `${before}/${name}`, label, value: valueText(inner) }]
  })
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return NUMBER.format(value)
  if (Array.isArray(value)) return listText(value)
  return shortened(isObject(value) ? objectText(value) : String(value), VALUE_LENGTH_MAX)
}

function listText(items: readonly unknown[]): string {
  const shown = items
    .slice(0, ITEMS_MAX)
    .map((item) => shortened(isObject(item) ? objectText(item) : valueText(item), 80))
  const more = items.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${NUMBER.format(more)} more` : shown.join(', ')
}

/** `12.5 EUR`, `mean (4)`: the values say enough where there are few. */
function objectText(value: Record<string, unknown>): string {
  const parts = Object.values(value).filter((part) => !isNothing(part) && !isObject(part) && !Array.isArray(part))
  if (parts.length === 0) return `${Object.keys(value).length} values`
  const [first, ...others] = parts.slice(0, 3).map(valueText)
  return others.length === 0 ? first! : `${first} (${others.join(', ')})`
}

const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 4 })

function isNothing(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
}

function inWords(name: string): string {
  return name
    .replaceAll(/[_-]+/g, ' ')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).trimEnd()}…`.toWellFormed()
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
