import { describe, expect, it } from 'vitest'
import {
  appended,
  indexAfter,
  NOTHING_READ,
  newAhead,
  type Order,
  type RunPages,
  replaced,
  rowsOf,
  staleStretch,
} from './run-pages.ts'
import type { RunRow } from './run-row.ts'

const NEWEST: Order = 'created_at_desc'

/** Run number n was made in second n. */
function row(n: number, more: Partial<RunRow> = {}): RunRow {
  const runId = `run-${String(n).padStart(4, '0')}`
  const createdAt = new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString()
  return { runId, createdAt, status: 'FAILED', ...more } as RunRow
}

/** A service that has these runs. A cursor is the number of the last run before it. */
function service(numbers: number[], order: Order = NEWEST) {
  const sorted = () => [...numbers].sort((a, b) => (order === NEWEST ? b - a : a - b))
  return {
    add: (...more: number[]) => void numbers.push(...more),
    remove: (...gone: number[]) => {
      numbers = numbers.filter((n) => !gone.includes(n))
    },
    read(cursor: string | null, limit: number, stamp = 1) {
      const rest = sorted().filter(
        (n) => cursor === null || (order === NEWEST ? n < Number(cursor) : n > Number(cursor)),
      )
      const page = rest.slice(0, limit)
      return { rows: page.map((n) => row(n)), next: rest.length > limit ? String(page.at(-1)) : null, stamp }
    },
    all: () => sorted().map((n) => row(n).runId),
  }
}

const ids = (list: RunPages) => rowsOf(list).map(({ runId }) => runId)
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

function readAll({ read }: ReturnType<typeof service>, size: number, pages = Number.POSITIVE_INFINITY): RunPages {
  let list = NOTHING_READ
  do list = appended(list, read(list.pages.length === 0 ? null : list.next, size))
  while (list.next !== null && list.pages.length < pages)
  return list
}

describe('pages that follow each other', () => {
  it('are the whole list, and a run is in it once', () => {
    const runs = service(numbers(1, 25))
    const list = readAll(runs, 10)
    expect(ids(list)).toEqual(runs.all())
    expect(ids(appended({ ...list, next: '11' }, runs.read('11', 10)))).toEqual(runs.all())
  })

  it('an empty page is not the end', () => {
    const list = appended(NOTHING_READ, { rows: [], next: 'on', stamp: 0 })
    expect(list.next).toBe('on')
    expect(ids(appended(list, { rows: [row(3)], next: null, stamp: 0 }))).toEqual(['run-0003'])
  })
})

describe('a stretch that is read again', () => {
  it('shows new runs at the top and keeps what is below', () => {
    const runs = service(numbers(1, 25))
    const list = readAll(runs, 10)
    runs.add(26, 27, 28)
    const now = replaced(list, 0, runs.read(null, 5), NEWEST)
    expect(ids(now)).toEqual(runs.all())
    expect(now.pages[1]!.cursor).toBe('24')
  })

  it('loses what left the filter, wherever it was', () => {
    const runs = service(numbers(1, 25))
    const list = readAll(runs, 10)
    runs.remove(25, 20, 16, 15)
    expect(ids(replaced(list, 0, runs.read(null, 10), NEWEST))).toEqual(runs.all())
  })

  it('a first page that is all new leaves no hole: the rest is read from where it ended', () => {
    const runs = service(numbers(1, 10))
    const list = readAll(runs, 10)
    runs.add(...numbers(11, 30))
    let now = replaced(list, 0, runs.read(null, 5, 2), NEWEST)
    expect(now.pages.map(({ cursor }) => cursor)).toEqual([null, '26'])
    for (
      let stretch = staleStretch(now, { from: 0, to: 40 }, 2);
      stretch;
      stretch = staleStretch(now, { from: 0, to: 40 }, 2)
    ) {
      now = replaced(now, stretch.first, runs.read(now.pages[stretch.first]!.cursor, 5, 2), NEWEST)
    }
    expect(ids(now)).toEqual(runs.all())
  })

  it('an answer that is the last ends the list', () => {
    const runs = service(numbers(1, 25))
    const list = readAll(runs, 10)
    runs.remove(...numbers(1, 20))
    expect(ids(replaced(list, 0, runs.read(null, 10), NEWEST))).toEqual(runs.all())
  })

  it('an empty answer that is not the last takes nothing away', () => {
    const list = readAll(service(numbers(1, 25)), 10)
    const now = replaced(list, 1, { rows: [], next: '15', stamp: 2 }, NEWEST)
    expect(ids(now)).toEqual(ids(list))
    expect(now.pages[2]!.cursor).toBe('15')
  })

  it('whatever happened, reading all of it again gives what the service has', () => {
    for (const order of ['created_at_desc', 'created_at_asc'] as const) {
      for (let seed = 1; seed <= 100; seed += 1) {
        const random = numbersFrom(seed)
        const runs = service(
          numbers(1, 60).filter(() => random() < 0.6),
          order,
        )
        let list = readAll(runs, 7, 1 + Math.floor(random() * 6))
        for (let stamp = 2; stamp < 6; stamp += 1) {
          runs.remove(...numbers(1, 60).filter(() => random() < 0.2))
          const taken = new Set(runs.all())
          const free = numbers(1, 70).filter((n) => !taken.has(row(n).runId))
          runs.add(...free.filter(() => random() < 0.2))
          const view = random() < 0.5 ? { from: 0, to: 100 } : { from: 9, to: 15 }
          for (let stretch = staleStretch(list, view, stamp); stretch; stretch = staleStretch(list, view, stamp)) {
            const limit = 3 + Math.floor(random() * 6)
            list = replaced(list, stretch.first, runs.read(list.pages[stretch.first]!.cursor, limit, stamp), order)
          }
          const seen = ids(list)
          expect(new Set(seen).size, `seed ${seed}`).toBe(seen.length)
          if (view.from === 0) {
            expect(seen, `seed ${seed}`).toEqual(runs.all().slice(0, seen.length))
            if (list.next === null) expect(seen).toEqual(runs.all())
          }
        }
      }
    }
  })
})

describe('what must be read again', () => {
  const list = readAll(service(numbers(1, 25)), 10)

  it('is what is in view and older than the last change', () => {
    expect(staleStretch(list, { from: 0, to: 8 }, 1)).toBeNull()
    expect(staleStretch(list, { from: 0, to: 8 }, 2)).toEqual({ first: 0, count: 9 })
    expect(staleStretch(list, { from: 12, to: 18 }, 2)).toEqual({ first: 1, count: 9 })
  })

  it('an empty list is in view', () => {
    const empty = appended(NOTHING_READ, { rows: [], next: null, stamp: 0 })
    expect(staleStretch(empty, { from: 0, to: 0 }, 1)).toEqual({ first: 0, count: 1 })
  })
})

describe('a reader further down', () => {
  const list = readAll(service(numbers(1, 25)), 10)

  it('is told how many are new', () => {
    expect(newAhead(list, [row(27), row(26), row(25), row(24)])).toEqual({ count: 2, isMore: false })
    expect(newAhead(list, [row(40), row(39)])).toEqual({ count: 2, isMore: true })
    expect(newAhead(list, [row(24), row(23)])).toEqual({ count: 0, isMore: false })
  })

  it('stays at the run they were reading, or at the next that is left', () => {
    const before = [row(5), row(4), row(3), row(2)]
    expect(indexAfter(before, 2, [row(7), row(6), ...before])).toBe(4)
    expect(indexAfter(before, 2, [row(5), row(2)])).toBe(1)
    expect(indexAfter(before, 2, before)).toBe(2)
    expect(indexAfter(before, 3, [row(5)])).toBe(0)
  })
})

/** Numbers from 0 to 1, the same for the same seed. */
function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
