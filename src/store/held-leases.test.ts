import { expect, test } from 'vitest'
import { HeldLeases } from './held-leases.ts'

function held(): HeldLeases {
  const leases = new HeldLeases()
  leases.add('1 100 a 1,b 1,\n2 200 c 1,\n')
  leases.add('')
  return leases
}

test('leases of all claims are held until they end or their claim does', () => {
  const leases = held()
  expect(leases.names()).toEqual(['a 1', 'b 1', 'c 1'])
  leases.end({ claim: 1, ended: 'a 1,' })
  expect(leases.names()).toEqual(['b 1', 'c 1'])
  leases.end({ claim: 1, ended: null })
  expect(leases.names()).toEqual(['c 1'])
})

test('what ends before anybody asked is not held either', () => {
  const leases = held()
  leases.end({ claim: 1, ended: null })
  leases.end({ claim: 2, ended: 'c 1,' })
  expect(leases.names()).toEqual([])
})

test('a later lease of a run stays when the claim of the earlier one ends', () => {
  const leases = held()
  leases.add('3 300 a 2,\n')
  expect(leases.names()).toContain('a 2')
  leases.end({ claim: 1, ended: null })
  expect(leases.names()).toEqual(['c 1', 'a 2'])
})

test('a claim that is told of twice, or never was, ends nothing else', () => {
  const leases = held()
  leases.end({ claim: 1, ended: null })
  leases.end({ claim: 1, ended: null })
  leases.end({ claim: 7, ended: 'c 1,' })
  expect(leases.names()).toEqual(['c 1'])
})

test('those not renewed in time are named once, whether they were asked about or not', () => {
  const leases = held()
  expect(leases.loseOlderThan(99)).toEqual([])
  expect(leases.loseOlderThan(100)).toEqual(['a 1', 'b 1'])
  expect(leases.loseOlderThan(100)).toEqual([])
  expect(leases.names()).toEqual(['c 1'])
  leases.renewed('c 1', 300)
  expect(leases.loseOlderThan(299)).toEqual([])
})
