/**
 * Which number literals survive being read into a double.
 *
 * A literal survives when nothing of its value is lost: its exact decimal value is the value of the double (2^70
 * written out), or the shortest text that names the double has the same value (0.1, 1e23, 1.50). An integer that
 * changes (2^53 + 1), a decimal with more digits than a double carries, an overflow (1e400) and an underflow (1e-400)
 * do not survive.
 */

/** The exact decimal value of a double never needs more significant digits than this. */
const SIGNIFICANT_DIGITS_MAX = 767

/** `digits` without zeros at either end, times ten to the `exponent`; zero has no digits. */
type Decimal = { digits: string; exponent: number }

/** The literal must be a well-formed JSON number and `value` what `Number` makes of it. */
export function numberSurvives(literal: string, value: number): boolean {
  if (!Number.isFinite(value)) return false
  if (String(value) === literal) return true
  const wanted = decimalOf(literal)
  if (value === 0 || wanted.digits === '') return wanted.digits === '' && value === 0
  const shortest = decimalOf(String(value))
  if (wanted.digits === shortest.digits && wanted.exponent === shortest.exponent) return true
  return wanted.digits.length <= SIGNIFICANT_DIGITS_MAX && isExactly(wanted, Math.abs(value))
}

function decimalOf(literal: string): Decimal {
  const unsigned = literal.startsWith('-') ? literal.slice(1) : literal
  const [mantissa = '', power = '0'] = unsigned.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const all = whole + fraction
  let start = 0
  let end = all.length
  while (start < end && all[start] === '0') start++
  while (end > start && all[end - 1] === '0') end--
  return { digits: all.slice(start, end), exponent: Number(power) - fraction.length + (all.length - end) }
}

/** Compares as integers: digits * 10^exponent = mantissa * 2^shift, with negative powers moved to the other side. */
function isExactly({ digits, exponent }: Decimal, value: number): boolean {
  const { mantissa, shift } = binaryOf(value)
  const left = BigInt(digits) * 10n ** BigInt(Math.max(exponent, 0)) * 2n ** BigInt(Math.max(-shift, 0))
  const right = mantissa * 2n ** BigInt(Math.max(shift, 0)) * 10n ** BigInt(Math.max(-exponent, 0))
  return left === right
}

function binaryOf(value: number): { mantissa: bigint; shift: number } {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  const bits = view.getBigUint64(0)
  const biased = Number((bits >> 52n) & 0x7ffn)
  const fraction = bits & 0xfffffffffffffn
  if (biased === 0) return { mantissa: fraction, shift: -1074 }
  return { mantissa: fraction | (1n << 52n), shift: biased - 1075 }
}
