import { expect, test, vi } from 'vitest'
import { createLog } from '../telemetry/log.ts'
import { createLastUsed } from './last-used.ts'

const log = createLog({ level: 'silent', format: 'json', destination: { write: () => {} } })

function noted(touch = async (_ids: string[]) => {}) {
  let now = 0
  const touched = vi.fn(touch)
  const lastUsed = createLastUsed({ tokens: { touch: touched }, log, gatherMs: 1 }, () => now)
  return {
    lastUsed,
    touched,
    pass: (ms: number) => {
      now += ms
    },
  }
}

test('several uses become one note', async () => {
  const { lastUsed, touched } = noted()
  for (const id of ['a', 'b', 'a']) lastUsed.note(id)
  expect(touched).not.toHaveBeenCalled()
  await vi.waitFor(() => expect(touched.mock.calls).toEqual([[['a', 'b']]]))
})

test('a token is noted once a minute', async () => {
  const { lastUsed, touched, pass } = noted()
  for (const ms of [0, 59_999, 1]) {
    pass(ms)
    lastUsed.note('a')
    await lastUsed.flush()
  }
  expect(touched).toHaveBeenCalledTimes(2)
})

test('what is gathered is written at the end', async () => {
  const { lastUsed, touched } = noted()
  lastUsed.note('a')
  await lastUsed.flush()
  await lastUsed.flush()
  expect(touched).toHaveBeenCalledTimes(1)
})

test('a note that cannot be written harms nobody', async () => {
  const { lastUsed } = noted(async () => {
    throw new Error('no database')
  })
  lastUsed.note('a')
  await lastUsed.flush()
})
