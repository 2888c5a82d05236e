import { expect, it } from 'vitest'
import { RunList } from './run-list.ts'
import type { RunRow } from './run-row.ts'

const row = (n: number): RunRow =>
  ({ runId: `run-${String(n).padStart(4, '0')}`, createdAt: new Date(n * 1_000).toISOString() }) as RunRow

/** Newest first; a cursor is the number before it. `log` has what was asked for. */
function service(count: number) {
  const runs = Array.from({ length: count }, (_, index) => count - index)
  const log: string[] = []
  const read = async (cursor: string | null, limit: number) => {
    log.push(`${cursor} ${limit}`)
    const rest = runs.filter((n) => cursor === null || n < Number(cursor))
    const page = rest.slice(0, limit)
    return { rows: page.map(row), next: rest.length > limit ? String(page.at(-1)) : null }
  }
  return { runs, log, read }
}

it('reads on only as far as there is something', async () => {
  const { read, log } = service(150)
  const list = new RunList(read, 'created_at_desc')
  await list.open()
  await list.more()
  await list.more()
  expect(log).toEqual(['null 100', '51 200'])
  expect(list.shown).toMatchObject({ hasMore: false, isReading: false })
  expect(list.shown.rows).toHaveLength(150)
})

it('goes on behind empty pages until something comes', async () => {
  const pages = [
    { rows: [], next: 'a' },
    { rows: [], next: 'b' },
    { rows: [row(1)], next: 'c' },
  ]
  const list = new RunList(async () => pages.shift()!, 'created_at_desc')
  await list.open()
  const leave = list.watch(() => {})
  await list.more()
  expect(list.shown.rows).toHaveLength(1)
  expect(list.shown.hasMore).toBe(true)

  leave()
  pages.push({ rows: [], next: 'd' }, { rows: [row(0)], next: 'e' })
  await list.more()
  expect(pages).toHaveLength(1)
})

it('at the top new runs appear by themselves; further down they are counted and shown when asked for', async () => {
  const { read, runs } = service(500)
  const list = new RunList(read, 'created_at_desc')
  await list.open()
  await list.more()
  list.view = { from: 0, to: 20 }
  runs.unshift(501)
  list.touch()
  await list.refresh()
  expect(list.shown.rows[0]!.runId).toBe('run-0501')

  list.view = { from: 200, to: 220 }
  runs.unshift(503, 502)
  list.touch()
  await list.refresh()
  expect(list.shown.rows[0]!.runId).toBe('run-0501')
  expect(list.shown.ahead).toEqual({ count: 2, isMore: false })
  expect(list.isOld).toBe(false)

  await list.showNewest()
  expect(list.shown.rows[0]!.runId).toBe('run-0503')
  expect(list.shown.ahead.count).toBe(0)
})

it('what happens while it reads is read the next time', async () => {
  const { read, runs } = service(10)
  let meanwhile = () => {}
  const list = new RunList(async (cursor, limit) => {
    const answer = await read(cursor, limit)
    meanwhile()
    return answer
  }, 'created_at_desc')
  await list.open()
  list.touch()
  meanwhile = () => {
    meanwhile = () => {}
    runs.unshift(11)
    list.touch()
  }
  await list.refresh()
  expect(list.shown.rows).toHaveLength(10)
  expect(list.isOld).toBe(true)
  await list.refresh()
  expect(list.shown.rows).toHaveLength(11)
  expect(list.isOld).toBe(false)
})

it('an error leaves what is shown, and is told when reading on', async () => {
  const { read } = service(300)
  let isAway = false
  const list = new RunList(
    (...asked) => (isAway ? Promise.reject(new Error('away')) : read(...asked)),
    'created_at_desc',
  )
  await list.open()
  isAway = true
  await list.more()
  expect(list.shown.error).toMatchObject({ message: 'away' })
  list.touch()
  await expect(list.refresh()).rejects.toThrow('away')
  expect(list.shown.rows).toHaveLength(100)
  isAway = false
  await list.more()
  expect(list.shown).toMatchObject({ error: null, hasMore: false })
})
