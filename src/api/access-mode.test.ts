import { expect, test, vi } from 'vitest'
import { createLog } from '../telemetry/log.ts'
import { watchMode } from './access-mode.ts'

const log = createLog({ level: 'silent', format: 'json', destination: { write: () => {} } })

function watched(mode: 'auto' | 'open' | 'tokens', answer: () => Promise<boolean> = async () => false) {
  let now = 0
  const anyToken = vi.fn(answer)
  const watch = watchMode({ mode, anyToken, log }, () => now)
  return {
    watch,
    anyToken,
    pass: (ms: number) => {
      now += ms
    },
  }
}

test.each(['open', 'tokens'] as const)('%s is what was asked for, and nobody looks', (mode) => {
  const { watch, anyToken } = watched(mode)
  expect([watch.current(), watch.lastKnown()]).toEqual([mode, mode])
  expect(anyToken).not.toHaveBeenCalled()
})

test('the first answer waits for the first look', async () => {
  const { watch } = watched('auto')
  expect(watch.current()).toBeInstanceOf(Promise)
  expect(await watch.current()).toBe('open')
  expect(watch.current()).toBe('open')
})

test('tokens made elsewhere close the service within a second or so of requests', async () => {
  let exists = false
  const { watch, anyToken, pass } = watched('auto', async () => exists)
  await watch.current()
  exists = true
  pass(1_001)
  expect(watch.current()).toBe('open')
  await vi.waitFor(() => expect(watch.current()).toBe('tokens'))
  expect(anyToken).toHaveBeenCalledTimes(2)
})

test('after a pause the first request already knows', async () => {
  let exists = false
  const { watch, pass } = watched('auto', async () => exists)
  await watch.current()
  exists = true
  pass(5_001)
  expect(await watch.current()).toBe('tokens')
})

test('once closed it stays closed and looks no more', async () => {
  const { watch, anyToken, pass } = watched('auto', async () => true)
  await watch.current()
  pass(60_000)
  expect(watch.current()).toBe('tokens')
  expect(anyToken).toHaveBeenCalledTimes(1)
})

test('a token made here closes it at once', async () => {
  const { watch } = watched('auto')
  await watch.current()
  watch.close()
  expect(watch.current()).toBe('tokens')
})

test('a service told to be open stays open when a token is made', () => {
  const { watch } = watched('open')
  watch.close()
  expect(watch.current()).toBe('open')
})

test('before the first answer a failure lets nobody in; afterwards the last answer stands', async () => {
  let isDown = true
  const { watch, pass } = watched('auto', async () => {
    if (isDown) throw new Error('no database')
    return false
  })
  await expect(watch.current()).rejects.toThrow('no database')
  isDown = false
  expect(await watch.current()).toBe('open')
  isDown = true
  pass(10_000)
  expect(await watch.current()).toBe('open')
})
