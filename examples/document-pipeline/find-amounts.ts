/**
 * Amounts of money: a currency beside a number, in the notations of several countries. A mark before exactly three digits
 * groups them; before one or two it is the decimal mark. Every pattern is bounded, so the time is linear.
 */

export type FoundAmount = { currency: string; value: number; text: string }

const CODES = 'EUR USD GBP CHF JPY CNY INR AUD CAD NZD SEK NOK DKK PLN CZK HUF BRL MXN ZAR SGD HKD KRW TRY'.split(' ')
const NAMES: Record<string, string> = {
  '€': 'EUR',
  $: 'USD',
  US$: 'USD',
  A$: 'AUD',
  AU$: 'AUD',
  C$: 'CAD',
  CA$: 'CAD',
  NZ$: 'NZD',
  HK$: 'HKD',
  S$: 'SGD',
  R$: 'BRL',
  '£': 'GBP',
  '¥': 'JPY',
  '₹': 'INR',
  '₩': 'KRW',
  '₺': 'TRY',
  zł: 'PLN',
  Kč: 'CZK',
  Fr: 'CHF',
  euro: 'EUR',
  euros: 'EUR',
  Euro: 'EUR',
  dollars: 'USD',
  pounds: 'GBP',
}
const SCALES: Record<string, number> = {
  thousand: 1e3,
  tausend: 1e3,
  mille: 1e3,
  million: 1e6,
  millions: 1e6,
  millionen: 1e6,
  millones: 1e6,
  milioni: 1e6,
  mio: 1e6,
  billion: 1e9,
  milliard: 1e9,
  milliards: 1e9,
  milliarden: 1e9,
  miliardi: 1e9,
  bn: 1e9,
}

const CURRENCY = `(?:${[...CODES, ...Object.keys(NAMES)]
  .sort((a, b) => b.length - a.length)
  .map((name) => name.replace('$', '\\$'))
  .join('|')})`
const NUMBER =
  "\\d{1,3}(?:[., \\u00a0\\u202f'’]\\d{3}){1,5}(?:[.,]\\d{1,2})?(?![\\d])|\\d{1,15}(?:[.,]\\d{1,4})?(?![\\d])"
const SCALE = `(?:[ \\u00a0](${Object.keys(SCALES).join('|')})(?!\\p{L}))?`
const SPACE = '[ \\u00a0\\u202f]?'
const BEFORE = new RegExp(`(?<![\\p{L}\\d$])(${CURRENCY})\\.?${SPACE}(-?)(${NUMBER})${SCALE}`, 'gu')
const AFTER = new RegExp(`(?<![\\d.,\\p{L}])([-−]?)(${NUMBER})${SCALE}${SPACE}(${CURRENCY})(?![\\p{L}\\d])`, 'gu')

/** In the order they appear, each currency and value once. */
export function findAmounts(text: string, countMax: number): FoundAmount[] {
  const before = [...text.matchAll(BEFORE)].map(({ 0: written, 1: currency, 2: sign, 3: number, 4: scale, index }) => ({
    at: index,
    end: index + written.length,
    found: amountOf(written, currency!, sign!, number!, scale),
  }))
  const after = [...text.matchAll(AFTER)].map(({ 0: written, 1: sign, 2: number, 3: scale, 4: currency, index }) => ({
    at: index,
    end: index + written.length,
    found: amountOf(written, currency!, sign!, number!, scale),
  }))
  const found = new Map<string, FoundAmount>()
  let end = 0
  for (const one of [...before, ...after].sort((a, b) => a.at - b.at)) {
    // "EUR 10 USD" names two currencies for one number: the first stands.
    if (one.at < end) continue
    end = one.end
    const key = `${one.found.currency} ${one.found.value}`
    if (!found.has(key)) found.set(key, one.found)
    if (found.size >= countMax) break
  }
  return [...found.values()]
}

function amountOf(written: string, currency: string, sign: string, number: string, scale?: string): FoundAmount {
  const value = numberOf(number) * (scale ? SCALES[scale]! : 1)
  return {
    currency: NAMES[currency] ?? currency,
    value: Number((sign ? -value : value).toFixed(4)),
    text: written.trim(),
  }
}

export function numberOf(written: string): number {
  const decimal = /[.,](\d{1,2}|\d{4})$/.exec(written)
  const whole = decimal ? written.slice(0, decimal.index) : written
  return Number(`${whole.replace(/\D/g, '')}.${decimal?.[1] ?? '0'}`)
}
