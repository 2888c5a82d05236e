import { describe, expect, test } from 'vitest'
import { assertMayListen, isLoopback } from './loopback.ts'

const LOCAL = ['127.0.0.1', '127.1.2.3', 'localhost', '::1', '[::1]']
const REACHABLE = ['0.0.0.0', '::', '', '10.0.0.5', '127.example.com', 'localhost.example.com', '192.168.1.1', '*']

const no = async () => false
const yes = async () => true

test.each(LOCAL)('%s is this machine', (host) => expect(isLoopback(host)).toBe(true))
test.each(REACHABLE)('%j is not', (host) => expect(isLoopback(host)).toBe(false))

describe('a service without tokens', () => {
  test.each(LOCAL)('may listen on %s', async (host) => {
    await assertMayListen(host, { mode: 'auto', anyToken: no })
    await assertMayListen(host, { mode: 'open', anyToken: no })
  })

  test.each(REACHABLE)('may not listen on %j, and says what to do', async (host) => {
    await expect(assertMayListen(host, { mode: 'auto', anyToken: no })).rejects.toThrow(/holdfast token create/)
  })
})

test('with tokens it may listen anywhere', async () => {
  await assertMayListen('0.0.0.0', { mode: 'auto', anyToken: yes })
})

test('a service that never opens may listen before its first token exists', async () => {
  await assertMayListen('0.0.0.0', { mode: 'tokens', anyToken: no })
})

test('one that is told to be open may not, whether there are tokens or not', async () => {
  await expect(assertMayListen('0.0.0.0', { mode: 'open', anyToken: yes })).rejects.toThrow(/HOLDFAST_ACCESS is open/)
})
