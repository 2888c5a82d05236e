/** An amount of cost: never negative, never infinite, with six decimals at most, here and in the database. */

export const AMOUNT_MAX = 1_000_000_000
const DECIMALS = 6

export const AMOUNT_WANTED = `must be a number from 0 to ${AMOUNT_MAX}`

export function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= AMOUNT_MAX
}

/** As it is stored. */
export function roundAmount(amount: number): number {
  return Number(amount.toFixed(DECIMALS))
}

/** `12.50 USD`, `0.000125 USD`. */
export function amountText(amount: number, currency: string | null): string {
  const [whole = '0', decimals = ''] = amount.toFixed(DECIMALS).split('.')
  const shown = decimals.replace(/0+$/, '').padEnd(2, '0')
  return `${whole}.${shown}${currency ? ` ${currency}` : ''}`
}
