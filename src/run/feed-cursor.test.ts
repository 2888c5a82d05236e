import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CURSOR_LENGTH_MAX, decodeCursor, encodeCursor, type FeedCursor } from './feed-cursor.ts'

const cursor: FeedCursor = {
  cluster: '0123456789abcdef',
  atMs: 1_800_000_000_000,
  after: { xmin: 1_000_000_010, xmax: 1_000_000_020, xip: [1_000_000_010, 1_000_000_013] },
  batch: {
    until: { xmin: 1_000_000_020, xmax: 1_000_000_031, xip: [1_000_000_020] },
    last: { xid: 1_000_000_022, runId: '01890a0b-0c0d-7000-8000-00000000000f', seq: 3 },
  },
}

const moment = fc
  .tuple(fc.nat({ max: 2 ** 40 }), fc.array(fc.nat({ max: 5_000 }), { maxLength: 20 }), fc.nat(9_999))
  .map(([xmin, steps, more]) => {
    const xip = [...new Set(steps)].sort((a, b) => a - b).map((step) => xmin + step)
    return { xmin, xmax: (xip.at(-1) ?? xmin) + more, xip }
  })

const cursors: fc.Arbitrary<FeedCursor> = fc.record({
  cluster: fc.stringMatching(/^[0-9a-f]{16}$/),
  atMs: fc.nat({ max: 4_000_000_000_000 }),
  after: moment,
  batch: fc.option(
    fc.record({ until: moment, last: fc.record({ xid: fc.nat(), runId: fc.uuid(), seq: fc.nat(2 ** 31 - 1) }) }),
  ),
})

test('every cursor is read back as it was written', () => {
  fc.assert(fc.property(cursors, (one) => void expect(decodeCursor(encodeCursor(one))).toEqual(one)))
})

test('a usual cursor is short enough for a header and has no character that needs quoting', () => {
  const text = encodeCursor(cursor)
  expect(text.length).toBeLessThan(100)
  expect(text).toMatch(/^[\w-]+$/)
})

test.each([
  ['nothing', ''],
  ['a word', 'nonsense'],
  ['a part of a cursor', encodeCursor(cursor).slice(0, -4)],
  ['more than a cursor', `${encodeCursor(cursor)}AAAA`],
  ['another version', `Ag${encodeCursor(cursor).slice(2)}`],
  ['far too much', 'A'.repeat(CURSOR_LENGTH_MAX + 1)],
])('%s is no cursor', (_what, text) => {
  expect(decodeCursor(text)).toBeNull()
})

test('no text makes it throw', () => {
  fc.assert(fc.property(fc.string(), (text) => void decodeCursor(text)))
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 80 }),
      (bytes) => void decodeCursor(Buffer.from(bytes).toString('base64url')),
    ),
  )
})
