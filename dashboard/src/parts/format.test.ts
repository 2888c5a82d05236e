import { describe, expect, it } from 'vitest'
import { formatAgo, formatBytes, formatCount, formatDuration, formatMoment } from './format.ts'

describe('figures in words', () => {
  it.each([
    [0, '0 ms'],
    [0.1204, '120 ms'],
    [0.9999, '1 s'],
    [4.24, '4.2 s'],
    [59.96, '1 min'],
    [185, '3 min 5 s'],
    [3_600, '1 h'],
    [7_800, '2 h 10 min'],
    [273_600, '3 d 4 h'],
    [-3, '0 ms'],
  ])('%d seconds are %s', (seconds, words) => expect(formatDuration(seconds)).toBe(words))

  it.each([
    [0, '0 B'],
    [1_023, '1023 B'],
    [1_536, '1.5 KiB'],
    [5 * 1_024 ** 2, '5.0 MiB'],
    [300 * 1_024 ** 3, '300 GiB'],
  ])('%d bytes are %s', (bytes, words) => expect(formatBytes(bytes)).toBe(words))

  it('tells how long ago something was, and how far ahead', () => {
    const nowMs = Date.parse('2026-05-04T12:00:00Z')
    expect(formatAgo('2026-05-04T11:59:58Z', nowMs)).toBe('just now')
    expect(formatAgo('2026-05-04T11:55:00Z', nowMs)).toBe('5 min ago')
    expect(formatAgo('2026-05-02T11:55:00Z', nowMs)).toBe('2 d ago')
    expect(formatAgo('2026-05-04T14:30:00Z', nowMs)).toBe('in 2 h')
  })

  it('a count that stopped says so', () => expect(formatCount(1_000, true)).toBe('1,000+'))

  it('a moment names its zone', () =>
    expect(formatMoment('2026-05-04T12:00:00Z', 'Europe/Paris')).toMatch(/^4 May 2026,? (at )?14:00:00 (CEST|GMT\+2)$/))
})
