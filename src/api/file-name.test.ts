import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nameOfDisposition, safeFileName } from './file-name.ts'

test.each([
  ['report.pdf', 'report.pdf'],
  ['../../etc/passwd', 'passwd'],
  ['C:\\Users\\ana\\report.pdf', 'report.pdf'],
  ['/', 'file'],
  ['', 'file'],
  [null, 'file'],
  ['..', 'file'],
  ['  ', 'file'],
  ['a\u0000b\r\nc.txt', 'a_b__c.txt'],
  ['photo\u202egpj.exe', 'photo_gpj.exe'],
  ['תמונה.pdf', 'תמונה.pdf'],
  ['مستند ١.docx', 'مستند ١.docx'],
  ['zero\u200bwidth\u2028.txt', 'zero_width_.txt'],
  ['half \ud83d.txt', 'half \ufffd.txt'],
])('%j is kept as %j', (sent, kept) => {
  expect(safeFileName(sent)).toBe(kept)
})

test('a long name is cut before its extension, between whole characters', () => {
  expect(safeFileName(`${'a'.repeat(300)}.pdf`)).toBe(`${'a'.repeat(251)}.pdf`)
  const family = '👩‍👩‍👧'.replaceAll('\u200d', '')
  const cut = safeFileName(`${family.repeat(100)}.pdf`)
  expect(cut.isWellFormed() && cut.endsWith('.pdf') && cut.length <= 255).toBe(true)
  expect(safeFileName(`${'e\u0301'.repeat(300)}`)).toBe('e\u0301'.repeat(127))
})

test('any name becomes a safe one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (sent) => {
      const name = safeFileName(sent)
      expect(name.length).toBeGreaterThan(0)
      expect(name.length).toBeLessThanOrEqual(255)
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(1_024)
      expect(name).not.toMatch(/[/\\\p{Cc}\p{Cf}]|^\.*$/u)
      expect(name.isWellFormed()).toBe(true)
      expect(safeFileName(name)).toBe(name)
    }),
  )
})

test.each([
  [undefined, null],
  ['attachment', null],
  ["attachment; filename*=UTF-8''na%C3%AFve%20file.txt", 'naïve file.txt'],
  ['attachment; filename="a \\"b\\".txt"', 'a "b".txt'],
  ['attachment; filename=plain.txt', 'plain.txt'],
  ["attachment; filename=plain.txt; filename*=utf-8'en'%e2%82%ac.txt", '€.txt'],
  ["attachment; filename*=UTF-8''%zz; filename=plain.txt", 'plain.txt'],
  [`attachment; filename="${Buffer.from('é.txt').toString('latin1')}"`, 'é.txt'],
])('%j names %j', (header, name) => {
  expect(nameOfDisposition(header)).toBe(name)
})
