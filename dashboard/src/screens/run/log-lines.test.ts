import type { LogPiece } from '@holdfast/client'
import { describe, expect, it } from 'vitest'
import { LINE_LENGTH_MAX, LogLines, plainText } from './log-lines.ts'

const piece = (text: string, more: Partial<LogPiece> = {}): LogPiece => {
  return { no: 1, attempt: 1, at: '2030-01-31T08:00:00Z', stream: 'stdout', text, ...more }
}
const texts = (lines: LogLines) => Array.from({ length: lines.count }, (_, index) => lines.at(index)!.text)

describe('lines of a log', () => {
  it('go over the ends of pieces, for each stream and attempt by itself', () => {
    const lines = new LogLines()
    lines.add(piece('one\ntw'))
    lines.add(piece('warn', { stream: 'stderr' }))
    lines.add(piece('o\n\nfour'))
    lines.add(piece('ing\n', { stream: 'stderr' }))
    lines.add(piece('again', { attempt: 2 }))
    expect(texts(lines)).toEqual(['one', 'two', 'warning', '', 'four', 'again'])
    expect(lines.at(2)).toMatchObject({ no: 3, stream: 'stderr' })
  })

  it('keep the newest, and say how many were left out', () => {
    const lines = new LogLines(10)
    for (let no = 1; no <= 25; no += 1) lines.add(piece(`${no}\n`))
    expect(texts(lines)).toEqual(Array.from({ length: 10 }, (_, index) => `${index + 16}`))
    expect([lines.leftOut, lines.at(0)!.no, lines.at(10)]).toEqual([15, 16, undefined])
  })

  it('are cut when they are very long, also while they come', () => {
    const lines = new LogLines()
    for (let no = 0; no < 10; no += 1) lines.add(piece('x'.repeat(1_000)))
    expect(lines.at(0)!.text.length).toBe(LINE_LENGTH_MAX + 1)
  })
})

it('a line that writes over itself shows what was written last', () => {
  const lines = new LogLines()
  for (let done = 0; done <= 5_000; done += 1) lines.add(piece(`\r${done} of 5000`))
  expect(plainText(lines.at(0)!.text)).toBe('5000 of 5000')
})

describe('plain text', () => {
  it.each([
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u001b]8;;http://x\u0007link\u001b]8;;\u0007', 'link'],
    ['\u001b]0;title\u001b\\shown', 'shown'],
    ['\u001b[2K\u001b[1Gdone', 'done'],
    ['10 %\r50 %\r100 %', '100 %'],
    ['with a carriage return\r', 'with a carriage return'],
    ['bell\u0007 and null\u0000', 'bell and null'],
    ['\u001b', ''],
    [
      '\tindented — ünïcode ✓ 😀 <img src=x onerror=alert(1)>',
      '\tindented — ünïcode ✓ 😀 <img src=x onerror=alert(1)>',
    ],
  ])('%j is %j', (text, plain) => expect(plainText(text)).toBe(plain))

  it('takes no long time over what looks like many codes', () => {
    const startMs = performance.now()
    plainText(`${'\u001b['.repeat(50_000)}${'\u001b]'.repeat(50_000)}`)
    expect(performance.now() - startMs).toBeLessThan(1_000)
  })
})
