/**
 * Where webhooks may go: to addresses of the public internet, over https, on its usual ports. Everything that leads into the
 * operator's own network is refused unless the operator allows it by name or range. A URL can be asked about when it is
 * registered; what a name resolves to must be asked about at each connection, because it can change between the two.
 */

import { embeddedIn, type IpAddress, type IpRange, isWithin, parseAddress, parseRange } from './ip-address.ts'

export type AddressGuard = {
  /** Why nothing may be sent there, as far as the URL alone tells; null when it may. */
  refusesUrl(url: URL): string | null
  /** Why this address, which the host of the URL resolves to, may not be connected to; null when it may. */
  refusesAddress(url: URL, address: string): string | null
}

const range = (text: string): IpRange => parseRange(text)!

/** The first that fits says why. */
const REFUSED_4: [IpRange, string][] = [
  [range('127.0.0.0/8'), 'a loopback address'],
  [range('10.0.0.0/8'), 'a private address'],
  [range('172.16.0.0/12'), 'a private address'],
  [range('192.168.0.0/16'), 'a private address'],
  [range('169.254.0.0/16'), 'a link-local address, where clouds keep their metadata'],
  // Of Azure, for the machines it runs.
  [range('168.63.129.16'), 'an address of cloud metadata'],
  [range('100.64.0.0/10'), 'an address shared behind a provider’s NAT'],
  [range('0.0.0.0/8'), 'an address of this machine'],
  [range('192.0.0.0/24'), 'an address of the protocol itself'],
  [range('192.0.2.0/24'), 'an address for documentation'],
  [range('198.51.100.0/24'), 'an address for documentation'],
  [range('203.0.113.0/24'), 'an address for documentation'],
  [range('192.88.99.0/24'), 'an address of 6to4 relays'],
  [range('198.18.0.0/15'), 'an address for benchmarks'],
  [range('224.0.0.0/4'), 'a multicast address'],
  [range('240.0.0.0/4'), 'a reserved address'],
]

const REFUSED_6: [IpRange, string][] = [
  [range('::1'), 'a loopback address'],
  [range('::'), 'an address of this machine'],
  [range('64:ff9b::/96'), 'a NAT64 address'],
  [range('64:ff9b:1::/48'), 'a NAT64 address'],
  [range('fc00::/7'), 'a private address'],
  [range('fe80::/10'), 'a link-local address'],
  [range('ff00::/8'), 'a multicast address'],
  [range('2002::/16'), 'a 6to4 address'],
  [range('2001::/23'), 'an address of the protocol itself'],
  [range('2001:db8::/32'), 'an address for documentation'],
  [range('3fff::/20'), 'an address for documentation'],
]

/** Public addresses are within it; the rest is reserved. */
const GLOBAL_6 = range('2000::/3')
const NAT64 = range('64:ff9b::/96')
const SIX_TO_FOUR = range('2002::/16')

const USUAL_PORTS = ['', '443', '8443']
const HOW_TO_ALLOW = 'an operator can allow it with HOLDFAST_WEBHOOK_ALLOW'
/** `name`, or `*.name` for all names below it. */
const NAME = /^(\*\.)?(?!-)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i

/** Whether it can stand in the list of what is allowed: a name, an address or a range. */
export function isAllowEntry(text: string): boolean {
  if (/[:/]/.test(text) || /^[\d.]+$/.test(text)) return parseRange(text) !== null
  return NAME.test(text)
}

export function createAddressGuard(allow: readonly string[]): AddressGuard {
  const ranges = allow.flatMap((entry) => parseRange(entry) ?? [])
  const names = allow.filter((entry) => parseRange(entry) === null).map((entry) => entry.toLowerCase())
  const isNamed = (host: string) =>
    names.some((name) => (name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name))
  const isAllowed = (address: IpAddress) => ranges.some((one) => isWithin(address, one))

  function refusesUrl(url: URL): string | null {
    const host = hostOf(url)
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'the URL must begin with https://'
    if (url.username !== '' || url.password !== '') return 'the URL must not hold a user name or a password'
    if (isNamed(host)) return null
    if (parseAddress(host)) return refusesAddress(url, host)
    // It never leaves this machine, whatever a resolver says.
    if (host === 'localhost' || host.endsWith('.localhost')) return refusesAddress(url, '127.0.0.1')
    // The address may still be within an allowed range.
    return ranges.length > 0 ? null : unusual(url)
  }

  function refusesAddress(url: URL, text: string): string | null {
    const address = parseAddress(text)
    if (!address) return `the address cannot be judged; ${HOW_TO_ALLOW}`
    if (isNamed(hostOf(url))) return null
    const why = isAllowed(address) ? whyNotInside(address) : whyNot(address)
    const leads = parseAddress(hostOf(url)) ? 'is' : 'leads to'
    if (why !== null) return `${url.hostname} ${leads} ${why}; ${HOW_TO_ALLOW}`
    return isAllowed(address) ? null : unusual(url)
  }

  /** An allowed range of translated addresses allows no IPv4 address that would not be reached directly. */
  function whyNotInside(address: IpAddress): string | null {
    const inside = translated(address)
    return inside === null || isAllowed(inside) ? null : whyNot(inside)
  }

  return { refusesUrl, refusesAddress }
}

function whyNot(address: IpAddress): string | null {
  const found = (address.family === 4 ? REFUSED_4 : REFUSED_6).find(([one]) => isWithin(address, one))
  if (found) return found[1]
  return address.family === 4 || isWithin(address, GLOBAL_6) ? null : 'a reserved address'
}

/** The IPv4 address that an IPv6 address stands for. */
function translated(address: IpAddress): IpAddress | null {
  if (isWithin(address, NAT64)) return embeddedIn(address.bits)
  return isWithin(address, SIX_TO_FOUR) ? embeddedIn(address.bits, 80n) : null
}

function unusual(url: URL): string | null {
  if (url.protocol !== 'https:') return `the URL must begin with https://; ${HOW_TO_ALLOW}`
  return USUAL_PORTS.includes(url.port) ? null : `the port must be 443 or 8443; ${HOW_TO_ALLOW}`
}

/** As names are compared: without the brackets of an IPv6 address and the dot that ends a full name. */
function hostOf({ hostname }: URL): string {
  return hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase()
}
