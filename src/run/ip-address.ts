/**
 * Addresses and ranges of the internet protocol as numbers. An IPv4 address that is written as IPv6 (`::ffff:10.0.0.1`) is that
 * IPv4 address. Only the plain forms are read: what a resolver answers and what a parsed URL holds. Anything else is no
 * address.
 */

export type IpAddress = { family: 4 | 6; bits: bigint }
export type IpRange = { first: IpAddress; prefix: number }

const BITS = { 4: 32, 6: 128 } as const
const MAPPED = 0xffffn

export function parseAddress(text: string): IpAddress | null {
  if (!text.includes(':')) {
    const bits = fourBytes(text)
    return bits === null ? null : { family: 4, bits }
  }
  const bits = eightGroups(text)
  if (bits === null) return null
  return bits >> 32n === MAPPED ? embeddedIn(bits) : { family: 6, bits }
}

/** `10.0.0.0/8`, `fd00::/8`, or one address. */
export function parseRange(text: string): IpRange | null {
  const [, address = '', length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const first = parseAddress(address)
  if (first === null) return null
  const prefix = length === undefined ? BITS[first.family] : Number(length)
  return prefix > BITS[first.family] ? null : { first, prefix }
}

export function isWithin({ family, bits }: IpAddress, { first, prefix }: IpRange): boolean {
  const rest = BigInt(BITS[first.family] - prefix)
  return family === first.family && bits >> rest === first.bits >> rest
}

/** The IPv4 address in the last 32 bits of an IPv6 address, or `above` bits further up. */
export function embeddedIn(bits: bigint, above = 0n): IpAddress {
  return { family: 4, bits: (bits >> above) & 0xffff_ffffn }
}

function fourBytes(text: string): bigint | null {
  const parts = text.split('.')
  // A leading zero means octal to some and nothing to others.
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) return null
  return parts.reduce((bits, part) => (bits << 8n) | BigInt(part), 0n)
}

function eightGroups(text: string): bigint | null {
  const plain = withoutDots(text)
  if (plain === null) return null
  const halves = plain.split('::')
  const [head, tail] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const missing = 8 - (head?.length ?? 0) - (tail?.length ?? 0)
  if (halves.length > 2 || (tail ? missing < 1 : missing !== 0)) return null
  const groups = [...(head ?? []), ...Array<string>(missing).fill('0'), ...(tail ?? [])]
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null
  return groups.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n)
}

/** The last 32 bits may be written like an IPv4 address. */
function withoutDots(text: string): string | null {
  if (!text.includes('.')) return text
  const start = text.lastIndexOf(':') + 1
  const bits = fourBytes(text.slice(start))
  return bits === null ? null : `${text.slice(0, start)}${(bits >> 16n).toString(16)}:${(bits & 0xffffn).toString(16)}`
}
