import { describe, expect, test } from 'vitest'
import { findAmounts } from './find-amounts.ts'
import { findCoordinates } from './find-coordinates.ts'
import { findDates } from './find-dates.ts'
import { findEmails } from './find-emails.ts'

const MAX = 100

describe('dates', () => {
  test.each([
    ['on 2026-03-14.', '2026-03-14'],
    ['at 2026-03-14T10:00:00Z', '2026-03-14'],
    ['2026/3/14', '2026-03-14'],
    ['am 14.03.2026', '2026-03-14'],
    ['14/03/2026', '2026-03-14'],
    ['03/14/2026', '2026-03-14'],
    ['14 March 2026', '2026-03-14'],
    ['the 14th of March, 2026', '2026-03-14'],
    ['March 14, 2026', '2026-03-14'],
    ['Mar. 14 2026', '2026-03-14'],
    ['le 1er août 2026', '2026-08-01'],
    ['14. März 2026', '2026-03-14'],
    ['14 de marzo de 2026', '2026-03-14'],
    ['29 February 2024', '2024-02-29'],
  ])('%s', (text, date) => {
    expect(findDates(text, MAX)).toEqual([{ date, text: expect.any(String) }])
  })

  test.each([
    '2026-02-30',
    '29 February 2026',
    '2026-13-01',
    '1.2.3.2026',
    '12345-01-01',
    '32/13/2026',
    '14 Marchpane 2026',
  ])('%s is none', (text) => {
    expect(findDates(text, MAX)).toEqual([])
  })

  test('3/4/2026 is read as the other dates of the document are written', () => {
    expect(findDates('3/4/2026', MAX)).toEqual([{ date: '2026-04-03', text: '3/4/2026', ambiguous: true }])
    expect(findDates('3/4/2026, 3/14/2026', MAX)[0]).toEqual({ date: '2026-03-04', text: '3/4/2026' })
    expect(findDates('3/4/2026, 14/3/2026', MAX)[0]).toEqual({ date: '2026-04-03', text: '3/4/2026' })
  })

  test('each day is listed once, up to the limit', () => {
    expect(findDates('2026-03-14 and 14.3.2026, 2026-03-15, 2026-03-16', 2).map(({ date }) => date)).toEqual([
      '2026-03-14',
      '2026-03-15',
    ])
  })
})

describe('amounts', () => {
  test.each([
    ['€1,234.50', 'EUR', 1234.5],
    ['1.234,50 EUR', 'EUR', 1234.5],
    ['1 234,50 €', 'EUR', 1234.5],
    ['1\u202f234\u202f567,5 €', 'EUR', 1234567.5],
    ['USD 1,234.50', 'USD', 1234.5],
    ["CHF 1'234.50", 'CHF', 1234.5],
    ['$99', 'USD', 99],
    ['US$ 5', 'USD', 5],
    ['A$5', 'AUD', 5],
    ['£0.99', 'GBP', 0.99],
    ['¥1,000', 'JPY', 1000],
    ['12.000 EUR', 'EUR', 12000],
    ['3.5 million dollars', 'USD', 3_500_000],
    ['€2 billion', 'EUR', 2_000_000_000],
    ['-5,00 EUR', 'EUR', -5],
    ['12 euros', 'EUR', 12],
  ])('%s', (text, currency, value) => {
    expect(findAmounts(`It costs ${text} in all`, MAX)).toEqual([{ currency, value, text }])
  })

  test.each(['EURO2024', '5 EURs', 'the US 5th', '1234', 'US$', '$'])('%s is none', (text) => {
    expect(findAmounts(text, MAX)).toEqual([])
  })
})

describe('e-mail addresses', () => {
  test.each([
    ['write to anna.b+c@mail.example.com.', 'anna.b+c@mail.example.com'],
    ['<Anna@EXAMPLE.org>', 'Anna@example.org'],
    ['mailto:a@b.co,', 'a@b.co'],
  ])('%s', (text, email) => {
    expect(findEmails(text, MAX)).toEqual([email])
  })

  test.each(['@', 'a@', '@b.co', 'a@b', 'a@b.1', 'a..b@c.de', `${'x'.repeat(65)}@b.co`, 'a@-b.co'])(
    '%s is none',
    (text) => {
      expect(findEmails(text, MAX)).toEqual([])
    },
  )
})

describe('places', () => {
  test.each([
    ['48.85837, 2.29448', 48.85837, 2.29448],
    ['geo:-33.8568,151.2153', -33.8568, 151.2153],
    ['48.85837° N, 2.29448° W', 48.85837, -2.29448],
    ['48.85837N 2.29448E', 48.85837, 2.29448],
    [`48°51'30"N 2°17'40"E`, 48.858333, 2.294444],
    ['48° 51.5′ S, 2° 17.5′ W', -48.858333, -2.291667],
    ['90° N 180° E', 90, 180],
  ])('%s', (text, latitude, longitude) => {
    const [place, ...others] = findCoordinates(`It is at ${text} or so`, 'en', MAX)
    expect(place).toMatchObject({ latitude, longitude })
    expect(others).toEqual([])
  })

  test.each(['91.0000, 2.0000', '48.8583, 180.5000', `48°61'30"N 2°17'40"E`, '1.234, 5.678', '12 N 14 E', '1.2345'])(
    '%s is none',
    (text) => {
      expect(findCoordinates(text, 'en', MAX)).toEqual([])
    },
  )

  test('O is west in French and east in German', () => {
    expect(findCoordinates('10.5° N, 20.5° O', 'fr', MAX)[0]?.longitude).toBe(-20.5)
    expect(findCoordinates('10.5° N, 20.5° O', 'de', MAX)[0]?.longitude).toBe(20.5)
  })
})
