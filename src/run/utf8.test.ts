import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeUtf8 } from './utf8.ts'

test('property: text is read back, and bad bytes end the text where they stand', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (before, after) => {
      expect(decodeUtf8(Buffer.from(before))).toEqual({ valid: true, text: before })
      const broken = Buffer.concat([Buffer.from(before), Buffer.from([0xff]), Buffer.from(after)])
      expect(decodeUtf8(broken)).toEqual({ valid: false, text: before })
    }),
  )
})

test('a byte order mark is kept as a character', () => {
  expect(decodeUtf8(Buffer.from('\ufeffa'))).toEqual({ valid: true, text: '\ufeffa' })
})
