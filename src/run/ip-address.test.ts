import { BlockList, isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isWithin, parseAddress, parseRange } from './ip-address.ts'

describe('addresses', () => {
  test.each([
    ['10.0.0.1', 4, 0x0a000001n],
    ['255.255.255.255', 4, 0xffffffffn],
    ['::', 6, 0n],
    ['::1', 6, 1n],
    ['1::', 6, 1n << 112n],
    ['2001:db8::a:b', 6, (0x2001_0db8n << 96n) | 0x000a_000bn],
    ['1:2:3:4:5:6:7:8', 6, 0x0001_0002_0003_0004_0005_0006_0007_0008n],
    ['::ffff:127.0.0.1', 4, 0x7f000001n],
    ['::FFFF:7f00:1', 4, 0x7f000001n],
    ['64:ff9b::10.0.0.1', 6, (0x0064_ff9bn << 96n) | 0x0a000001n],
  ])('%s is read', (text, family, bits) => {
    expect(parseAddress(text)).toEqual({ family, bits })
  })

  test.each([
    ...['', '1', '1.2.3', '1.2.3.4.5', '256.1.1.1', '010.0.0.1', '1.2.3.4 ', '0x7f.0.0.1', 'localhost'],
    ...[':', ':::', '1::2::3', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7::8:9', '::12345', '::g'],
    ...['fe80::1%eth0', '::1.2.3', '::ffff:1.2.3.4.5', '1.2.3.4::', '[::1]'],
  ])('%j is none', (text) => {
    expect(parseAddress(text)).toBeNull()
  })

  test('whatever the platform takes for an address without a zone is read, and nothing else', () => {
    const near = fc.stringMatching(/^[0-9a-f:.]{0,20}$/)
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), near), (text) => {
        expect(parseAddress(text) !== null).toBe(isIP(text) !== 0)
      }),
    )
  })
})

describe('ranges', () => {
  test.each(['10.0.0.0/33', '10.0.0.0/', '10.0.0.0/-1', '::/129', 'x/8', '10.0.0.0/8/8', ''])('%j is none', (text) => {
    expect(parseRange(text)).toBeNull()
  })

  test('what is within is what the platform says is within', () => {
    const pair = fc.oneof(
      fc.tuple(fc.constant('ipv4' as const), fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 })),
      fc.tuple(fc.constant('ipv6' as const), fc.ipV6(), fc.ipV6(), fc.integer({ min: 0, max: 128 })),
    )
    fc.assert(
      fc.property(pair, ([family, first, other, prefix]) => {
        const parsed = parseRange(`${first}/${prefix}`)
        fc.pre(parsed !== null && parseAddress(other)?.family === parsed.first.family)
        const list = new BlockList()
        list.addSubnet(first, prefix, family)
        for (const address of [first, other])
          expect(isWithin(parseAddress(address)!, parsed)).toBe(list.check(address, family))
      }),
    )
  })

  test('the families are apart', () => {
    expect(isWithin(parseAddress('0.0.0.1')!, parseRange('::/0')!)).toBe(false)
    expect(isWithin(parseAddress('::1')!, parseRange('0.0.0.0/0')!)).toBe(false)
  })
})
