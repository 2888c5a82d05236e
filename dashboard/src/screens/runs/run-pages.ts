/**
 * The part of the list that has been read: pages in the order of the service, each with the cursor it begins behind. Pure.
 *
 * A list of runs moves while it is read: runs are added, and with a filter on their state they leave and enter anywhere. But where a run
 * stands never changes. So an answer is the truth about the stretch it covers, from its cursor to its last run: what was known of that
 * stretch is replaced, what comes behind stays, and the next page then begins where the answer ended, so no stretch is ever left unread.
 */

import type { RunRow } from './run-row.ts'

export type Order = 'created_at_desc' | 'created_at_asc'

/** `cursor`: null is the beginning. `stamp`: how many changes had been heard of when it was asked for. */
export type RunPage = { cursor: string | null; rows: readonly RunRow[]; stamp: number }

/** `next`: where the rest begins; null when there is none. */
export type RunPages = { pages: readonly RunPage[]; next: string | null }

export type Answer = { rows: readonly RunRow[]; next: string | null; stamp: number }

export const NOTHING_READ: RunPages = { pages: [], next: null }

export function rowsOf({ pages }: RunPages): RunRow[] {
  return pages.flatMap(({ rows }) => rows)
}

/** What comes behind everything read so far. */
export function appended(list: RunPages, answer: Answer): RunPages {
  const known = new Set(rowsOf(list).map(({ runId }) => runId))
  const rows = answer.rows.filter(({ runId }) => !known.has(runId))
  const page = { cursor: list.pages.length === 0 ? null : list.next, rows, stamp: answer.stamp }
  return { pages: [...list.pages, page], next: answer.next }
}

/** The list after the stretch that begins with page `first` was read again. */
export function replaced(list: RunPages, first: number, answer: Answer, order: Order): RunPages {
  const before = list.pages.slice(0, first)
  const page = { cursor: list.pages[first]?.cursor ?? null, rows: answer.rows, stamp: answer.stamp }
  if (answer.next === null) return { pages: [...before, page], next: null }
  const rest = behind(list.pages.slice(first), answer, order)
  // Whatever may have come between the answer and the rest is found when the rest is read again from here.
  const [next, ...others] = rest
  if (!next) return { pages: [...before, page], next: answer.next }
  return { pages: [...before, page, { ...next, cursor: answer.next }, ...others], next: list.next }
}

/** What of these pages lies behind the answer. */
function behind(pages: readonly RunPage[], { rows }: Answer, order: Order): RunPage[] {
  const last = rows.at(-1)
  if (!last) return [...pages]
  const answered = new Set(rows.map(({ runId }) => runId))
  const known = pages.flatMap((page) => page.rows)
  // Behind the last that both have, only the moment tells.
  const shared = known.findLastIndex(({ runId }) => answered.has(runId))
  let covered = shared + 1
  while (covered < known.length && isBefore(known[covered]!, last, order)) covered += 1
  const rest: RunPage[] = []
  for (const page of pages) {
    const kept = page.rows.slice(Math.min(covered, page.rows.length))
    covered -= Math.min(covered, page.rows.length)
    if (kept.length > 0) rest.push(kept.length === page.rows.length ? page : { ...page, rows: kept })
  }
  return rest
}

function isBefore(one: RunRow, other: RunRow, order: Order): boolean {
  const isOlder = one.createdAt === other.createdAt ? one.runId < other.runId : one.createdAt < other.createdAt
  return order === 'created_at_desc' ? !isOlder && one.runId !== other.runId : isOlder
}

/** Which page to read again so that the rows `from` to `to` are not older than `stamp`, and how many rows that takes; null when none is. */
export function staleStretch(
  list: RunPages,
  { from, to }: { from: number; to: number },
  stamp: number,
): { first: number; count: number } | null {
  let start = 0
  for (const [first, page] of list.pages.entries()) {
    const end = start + page.rows.length
    const isInView = start <= to && (end > from || isLast(list, first))
    if (isInView && page.stamp < stamp) return { first, count: Math.max(to + 1 - start, 1) }
    start = end
  }
  return null
}

/** The end of the list is where new runs appear when the oldest come first. */
function isLast({ pages, next }: RunPages, index: number): boolean {
  return index === pages.length - 1 && next === null
}

/** How many runs of the newest page the list does not have yet; `isMore` when the page did not reach what the list has. */
export function newAhead(list: RunPages, newest: readonly RunRow[]): { count: number; isMore: boolean } {
  const first = list.pages.find(({ rows }) => rows.length > 0)?.rows[0]
  if (!first) return { count: newest.length, isMore: false }
  // The first known may have left the list: then those older than it are not new.
  const count = newest.filter((row) => isBefore(row, first, 'created_at_desc')).length
  return { count, isMore: count > 0 && count === newest.length }
}

/** Where the run that was at `index` is now, or the next one behind it that is still there. */
export function indexAfter(before: readonly RunRow[], index: number, now: readonly RunRow[]): number {
  if (before[index] && before[index].runId === now[index]?.runId) return index
  const places = new Map(now.map(({ runId }, place) => [runId, place]))
  for (let at = index; at < before.length; at += 1) {
    const place = places.get(before[at]!.runId)
    if (place !== undefined) return place
  }
  return Math.max(0, now.length - 1)
}
