/**
 * Dates in the ways people write them, as ISO 8601. Only dates that exist count.
 *
 * 3/4/2026 can mean two days. It is read day first, unless another date of the same document can only be month first;
 * where nothing in the document tells, the date is marked as ambiguous. Every pattern is bounded, so the time is linear.
 */

import { MONTHS } from './month-names.ts'

export type FoundDate = { date: string; text: string; ambiguous?: true }

type Candidate = {
  at: number
  text: string
  year: number
  month: number
  day: number
  order?: 'unclear' | 'month-first'
}

const SPACE = '[ \\t\\u00a0]{1,3}'
const NAME = '(\\p{L}{3,12})\\.?'
const ORDINAL = '(?:\\.|st|nd|rd|th|er|º|°)?'
const OF_YEAR = `(?:del?${SPACE})?`
const YEAR_FIRST = /(?<![\d./-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d|[./-]\d)/g
const YEAR_LAST = /(?<![\d./-])(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?!\d|[./-]\d)/g
const DAY_NAME = new RegExp(
  `(?<!\\d)(\\d{1,2})${ORDINAL}${SPACE}(?:(?:de|of)${SPACE})?${NAME},?${SPACE}${OF_YEAR}(\\d{4})(?!\\d)`,
  'gu',
)
const NAME_DAY = new RegExp(`(?<!\\p{L})${NAME}${SPACE}(\\d{1,2})(?:st|nd|rd|th)?,?${SPACE}(\\d{4})(?!\\d)`, 'gu')
const TEXT_CHARACTERS_MAX = 60

/** In the order they appear, each day once. */
export function findDates(text: string, countMax: number): FoundDate[] {
  const candidates = [...yearFirst(text), ...yearLast(text), ...spelled(text)]
    .filter(exists)
    .sort((a, b) => a.at - b.at)
  const isMonthFirst = candidates.some(({ order }) => order === 'month-first')
  const isDayFirst = candidates.some(
    ({ order, day, text }) => order === undefined && day > 12 && /^\d{1,2}[-/.]/.test(text),
  )
  const found = new Map<string, FoundDate>()
  for (const candidate of candidates) {
    const { text: written, order } = candidate
    const date = isoOf(order === 'unclear' && isMonthFirst && !isDayFirst ? turned(candidate) : candidate)
    const isAmbiguous = order === 'unclear' && isMonthFirst === isDayFirst
    if (!found.has(date))
      found.set(date, { date, text: written.slice(0, TEXT_CHARACTERS_MAX), ...(isAmbiguous && { ambiguous: true }) })
    if (found.size >= countMax) break
  }
  return [...found.values()]
}

function* yearFirst(text: string): Generator<Candidate> {
  for (const { 0: written, 1: year, 3: month, 4: day, index } of text.matchAll(YEAR_FIRST)) {
    yield { at: index, text: written, year: Number(year), month: Number(month), day: Number(day) }
  }
}

function* yearLast(text: string): Generator<Candidate> {
  for (const { 0: written, 1: one, 2: mark, 3: two, 4: year, index } of text.matchAll(YEAR_LAST)) {
    const [first, second] = [Number(one), Number(two)]
    const candidate = { at: index, text: written, year: Number(year), month: second, day: first }
    // With dots the day is first wherever they are used.
    if (mark === '.' || first > 12 || first === second) yield candidate
    else if (second > 12) yield { ...turned(candidate), order: 'month-first' }
    else yield { ...candidate, order: 'unclear' }
  }
}

function* spelled(text: string): Generator<Candidate> {
  for (const { 0: written, 1: day, 2: name, 3: year, index } of text.matchAll(DAY_NAME)) {
    const month = MONTHS.get(name!.toLowerCase())
    if (month) yield { at: index, text: written, year: Number(year), month, day: Number(day) }
  }
  for (const { 0: written, 1: name, 2: day, 3: year, index } of text.matchAll(NAME_DAY)) {
    const month = MONTHS.get(name!.toLowerCase())
    if (month) yield { at: index, text: written, year: Number(year), month, day: Number(day) }
  }
}

function turned(candidate: Candidate): Candidate {
  return { ...candidate, month: candidate.day, day: candidate.month }
}

function exists({ year, month, day }: Candidate): boolean {
  return year >= 1000 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

function daysIn(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]!
}

function isoOf({ year, month, day }: Candidate): string {
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
}
