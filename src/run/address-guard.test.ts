/** Where webhooks may go. The table of what is refused is asked about as URLs here, and as answers of a resolver. */

import { describe, expect, test } from 'vitest'
import { createAddressGuard, isAllowEntry } from './address-guard.ts'

const refusesUrl = (url: string, ...allow: string[]) => createAddressGuard(allow).refusesUrl(new URL(url))
const refusesAddress = (url: string, address: string, ...allow: string[]) =>
  createAddressGuard(allow).refusesAddress(new URL(url), address)

const FORBIDDEN: [string, RegExp][] = [
  ['127.0.0.1', /a loopback/],
  ['127.255.255.254', /a loopback/],
  ['0.0.0.0', /this machine/],
  ['10.1.2.3', /a private/],
  ['172.16.0.1', /a private/],
  ['172.31.255.255', /a private/],
  ['192.168.0.1', /a private/],
  ['169.254.169.254', /metadata/],
  ['168.63.129.16', /metadata/],
  ['100.64.0.1', /NAT/],
  ['100.100.100.200', /NAT/],
  ['192.0.0.192', /the protocol/],
  ['192.0.2.1', /documentation/],
  ['198.51.100.7', /documentation/],
  ['203.0.113.9', /documentation/],
  ['192.88.99.1', /6to4/],
  ['198.19.255.255', /benchmarks/],
  ['224.0.0.1', /multicast/],
  ['240.0.0.1', /reserved/],
  ['255.255.255.255', /reserved/],
  ['::1', /loopback/],
  ['::', /this machine/],
  ['::7f00:1', /reserved/],
  ['::ffff:127.0.0.1', /loopback/],
  ['::ffff:a9fe:a9fe', /metadata/],
  ['64:ff9b::7f00:1', /NAT64/],
  ['64:ff9b::5db8:d822', /NAT64/],
  ['64:ff9b:1::a00:1', /NAT64/],
  ['2002:7f00:1::', /6to4/],
  ['2001::1', /the protocol/],
  ['2001:db8::1', /documentation/],
  ['3fff::1', /documentation/],
  ['fc00::1', /private/],
  ['fd00:ec2::254', /private/],
  ['fe80::1', /link-local/],
  ['fec0::1', /reserved/],
  ['ff02::1', /multicast/],
  ['100::1', /reserved/],
  ['5f00::1', /reserved/],
]
const asHost = (address: string) => (address.includes(':') ? `[${address}]` : address)

describe.each(FORBIDDEN)('%s', (address, why) => {
  test('is refused in a URL', () => {
    expect(refusesUrl(`https://${asHost(address)}/hook`)).toMatch(why)
  })
  test('is refused as what a name resolves to, and not told', () => {
    const said = refusesAddress('https://hooks.example.org/', address)
    expect(said).toMatch(why)
    expect(said).not.toContain(address)
  })
})

describe('other ways to write a forbidden address', () => {
  test.each([
    ...['2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '127.1', '017700000001', '①②⑦.0.0.1', '127。0。0。1'],
    ...['%31%32%37.0.0.1', '127.0.0.1.', '[0:0:0:0:0:ffff:7f00:1]', '[::FFFF:127.0.0.1]', '0'],
    ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'ⓛocalhost'],
  ])('https://%s/ is refused', (host) => {
    expect(refusesUrl(`https://${host}/`)).toMatch(/loopback|this machine/)
  })

  test('an address with a zone, or what is none, is refused as what a name resolves to', () => {
    for (const address of ['fe80::1%eth0', 'x', ''])
      expect(refusesAddress('https://hooks.example.org/', address)).toMatch(/cannot be judged/)
  })
})

describe('what a URL must be', () => {
  test.each([
    'https://hooks.example.org/a?b=c',
    'https://hooks.example.org:8443/',
    'https://93.184.216.34/',
    'https://[2606:2800:220:1:248:1893:25c8:1946]/',
    'https://localhost.example.org/',
  ])('%s may be reached', (url) => {
    expect(refusesUrl(url)).toBeNull()
  })

  test.each([
    ['http://hooks.example.org/', /https/],
    ['http://hooks.example.org:443/', /https/],
    ['ftp://hooks.example.org/', /https/],
    ['file:///etc/passwd', /https/],
    ['https://hooks.example.org:22/', /443 or 8443/],
    ['https://hooks.example.org:80/', /443 or 8443/],
    ['https://user@hooks.example.org/', /user name/],
    ['https://:pass@hooks.example.org/', /password/],
  ])('%s is refused', (url, why) => {
    expect(refusesUrl(url)).toMatch(why)
  })

  test('an address of the public internet is, as what a name resolves to', () => {
    for (const address of ['93.184.216.34', '2606:2800:220:1::1', '::ffff:93.184.216.34'])
      expect(refusesAddress('https://hooks.example.org/', address)).toBeNull()
  })
})

describe('what an operator allows', () => {
  test('a name, at whatever address, over http and at any port', () => {
    expect(refusesUrl('http://Hooks.Internal.:8080/', 'hooks.internal')).toBeNull()
    expect(refusesAddress('http://hooks.internal:8080/', '10.0.0.1', 'HOOKS.internal')).toBeNull()
    expect(refusesUrl('http://localhost:9/', 'localhost')).toBeNull()
    expect(refusesAddress('https://other.internal/', '10.0.0.1', 'hooks.internal')).toMatch(/private/)
  })

  test('the names below a name, and not itself nor one that only ends alike', () => {
    expect(refusesAddress('http://a.b.svc/', '10.0.0.1', '*.svc')).toBeNull()
    expect(refusesAddress('https://svc/', '10.0.0.1', '*.svc')).toMatch(/private/)
    expect(refusesAddress('https://a.xsvc/', '10.0.0.1', '*.svc')).toMatch(/private/)
  })

  test('a range, over http and at any port, and nothing beside it', () => {
    expect(refusesUrl('http://10.1.2.3:8080/', '10.1.0.0/16')).toBeNull()
    expect(refusesUrl('http://[::ffff:10.1.2.3]/', '10.1.0.0/16')).toBeNull()
    expect(refusesUrl('http://10.2.2.3/', '10.1.0.0/16')).toMatch(/private/)
    expect(refusesUrl('http://localhost/', '127.0.0.1')).toBeNull()
    expect(refusesUrl('http://[::1]/', '127.0.0.1')).toMatch(/loopback/)
  })

  test('a name over http waits for what it resolves to as soon as there is a range', () => {
    expect(refusesUrl('http://hooks.example.org:8080/', '10.0.0.0/8')).toBeNull()
    expect(refusesAddress('http://hooks.example.org:8080/', '10.0.0.1', '10.0.0.0/8')).toBeNull()
    expect(refusesAddress('http://hooks.example.org:8080/', '93.184.216.34', '10.0.0.0/8')).toMatch(/https/)
    expect(refusesAddress('https://hooks.example.org:22/', '93.184.216.34', '10.0.0.0/8')).toMatch(/443/)
  })

  test('a range of translated addresses, without those that stand for forbidden ones', () => {
    const url = 'https://hooks.example.org/'
    expect(refusesAddress(url, '64:ff9b::5db8:d822', '64:ff9b::/96')).toBeNull()
    expect(refusesAddress(url, '64:ff9b::7f00:1', '64:ff9b::/96')).toMatch(/loopback/)
    expect(refusesAddress(url, '2002:a00:1::', '2002::/16')).toMatch(/private/)
    expect(refusesAddress(url, '64:ff9b::a00:1', '64:ff9b::/96', '10.0.0.0/8')).toBeNull()
  })

  test('never a user name, a password or another protocol', () => {
    expect(refusesUrl('http://a:b@hooks.internal/', 'hooks.internal')).toMatch(/password/)
    expect(refusesUrl('ftp://hooks.internal/', 'hooks.internal')).toMatch(/https/)
  })

  test.each([
    ...['hooks.internal', '*.svc.cluster.local', 'a_b', '10.0.0.0/8', '10.0.0.1', '::1', 'fd00::/8', '64:ff9b::/96'],
  ])('%s can stand in the list', (entry) => {
    expect(isAllowEntry(entry)).toBe(true)
  })

  test.each([
    ...['', '*', '*.', 'a..b', '-a', '10.0.0', '10.0.0.0/33', '10.0.0.256', 'http://a', 'a:80', 'a/8', 'a b', '::/129'],
  ])('%j cannot', (entry) => {
    expect(isAllowEntry(entry)).toBe(false)
  })
})
