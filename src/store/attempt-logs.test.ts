/** Logs of attempts: numbered over all attempts of a run, fenced, limited, read in pages and deleted when old. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, settle, type TestStore, WORKER } from '../../test/support/store.ts'
import type { LogPiece } from './ports/attempt-logs.ts'
import type { Lease } from './store.ts'

const out = (text: string): LogPiece => ({ stream: 'stdout', text })
const LIMIT = 100

describe.each(postgresVersions)('logs of attempts on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server, { logBytesMax: LIMIT })
  })
  afterEach(() => t.clear())
  afterAll(() => t.close())

  const append = (fence: Lease, ...pieces: LogPiece[]) => t.store.attemptLogs.append([{ fence, pieces }])
  const read = (runId: string, more: object = {}) =>
    t.store.attemptLogs.read(runId, { attempt: null, after: 0, limit: 100, ...more })
  const textOf = async (runId: string) => (await read(runId)).pieces.map(({ text }) => text)

  async function secondAttempt(lease: Lease): Promise<Lease> {
    await settle(t, lease, 'retry', { delaySeconds: 0 })
    return (await t.claim({ models: [{ model: lease.model, version: '1', room: 1 }] }))[0]!
  }

  it('pieces are numbered over all attempts and read in pages, of one attempt or of all', async () => {
    const lease = await t.running()
    await append(lease, out('a'), { stream: 'stderr', text: 'b' })
    await append(lease, { stream: 'log', text: 'c' })
    const next = await secondAttempt(lease)
    await append(next, out('d'))
    const { pieces } = await read(lease.runId)
    expect(pieces.map(({ no, attempt, stream, text }) => [no, attempt, stream, text])).toEqual([
      [1, 1, 'stdout', 'a'],
      [2, 1, 'stderr', 'b'],
      [3, 1, 'log', 'c'],
      [4, 2, 'stdout', 'd'],
    ])
    const page = await read(lease.runId, { after: 1, limit: 2 })
    expect([page.pieces.map(({ no }) => no), page.next]).toEqual([[2, 3], 3])
    const last = await read(lease.runId, { attempt: 2 })
    expect([last.pieces.map(({ no }) => no), last.next]).toEqual([[4], null])
    expect((await t.store.readRun(lease.runId))!.attempts.map(({ logRef }) => logRef)).toEqual(['inline', 'inline'])
  })

  it('one append may be about many attempts', async () => {
    const leases = [await t.running(), await t.running(), await t.running()]
    const items = leases.map((fence, no) => ({ fence, pieces: [out(`${no}`), out('x')] }))
    expect(await t.store.attemptLogs.append(items)).toEqual({ lost: [] })
    for (const [no, { runId }] of leases.entries()) expect(await textOf(runId)).toEqual([`${no}`, 'x'])
  })

  it('a lost attempt writes nothing more and is named', async () => {
    const lost = await t.running()
    const held = await t.running()
    const next = await secondAttempt(lost)
    const fences = [lost, { ...held, epoch: 7 }, held]
    const answer = await t.store.attemptLogs.append(fences.map((fence) => ({ fence, pieces: [out('late')] })))
    expect(answer.lost).toEqual([fences[0], fences[1]].toSorted((a, b) => (a!.runId < b!.runId ? -1 : 1)))
    expect([await textOf(lost.runId), await textOf(held.runId)]).toEqual([[], ['late']])
    expect(await append(next, out('mine'))).toEqual({ lost: [] })
  })

  it('what is over the limit of an attempt is dropped and one marker says so', async () => {
    const lease = await t.running()
    await append(lease, out('x'.repeat(60)))
    await append(lease, out('y'.repeat(40)), out('z'), out('more'))
    await append(lease, out('and more'))
    const texts = await textOf(lease.runId)
    expect(texts.slice(0, 2)).toEqual(['x'.repeat(60), 'y'.repeat(40)])
    expect(texts.slice(2)).toEqual(['[the log is longer than 100 bytes: the rest is left out]\n'])
    const next = await secondAttempt(lease)
    await append(next, out('fresh'))
    expect((await read(lease.runId)).pieces.at(-1)).toMatchObject({ no: 4, attempt: 2, text: 'fresh' })
  })

  it('many appends to one attempt at once keep every piece under a number of its own', async () => {
    const lease = await t.running()
    await Promise.all(Array.from({ length: 20 }, (_, no) => append(lease, out(`${no % 10}`))))
    expect((await read(lease.runId)).pieces.map(({ no }) => no)).toEqual(Array.from({ length: 20 }, (_, no) => no + 1))
  })

  it('takes what Postgres cannot hold', async () => {
    const lease = await t.running()
    await append(lease, out('a\0b\ud800'))
    expect(await textOf(lease.runId)).toEqual(['a\u{fffd}b\u{fffd}'])
  })

  it('logs of attempts that ended long ago go, a batch at a time; those of open ones stay', async () => {
    const ended = await t.running()
    const open = await t.running({}, WORKER, 60_000)
    for (const lease of [ended, open]) await append(lease, out('1'), out('2'))
    await settle(t, ended, 'succeed')
    const day = 24 * 3600 * 1000
    expect(await t.store.attemptLogs.deleteOlderThan(day, 10)).toBe(0)
    await t.database.shiftClock('2 days')
    expect(await t.store.attemptLogs.deleteOlderThan(day, 1)).toBe(1)
    expect(await t.store.attemptLogs.deleteOlderThan(day, 10)).toBe(1)
    expect([await textOf(ended.runId), await textOf(open.runId)]).toEqual([[], ['1', '2']])
  })
})

describe('a long piece', () => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore('18')
  })
  afterAll(() => t.close())

  it('is cut at line ends where it has some, and never inside a character', async () => {
    const lease = await t.running()
    const text = `${'a'.repeat(5_000)}\n${'b'.repeat(5_000)}\n${'\u{1f600}'.repeat(9_000)}`
    await t.store.attemptLogs.append([{ fence: lease, pieces: [out(text)] }])
    const { pieces } = await t.store.attemptLogs.read(lease.runId, { attempt: null, after: 0, limit: 100 })
    expect(pieces[0]!.text).toBe(`${'a'.repeat(5_000)}\n`)
    expect(pieces.map((piece) => piece.text).join('')).toBe(text)
  })
})
