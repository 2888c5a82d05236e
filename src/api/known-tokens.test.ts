import { expect, test } from 'vitest'
import type { Credential } from '../store/ports/tokens.ts'
import { createKnownTokens } from './known-tokens.ts'
import { hashOf } from './token-text.ts'

const TOKEN = {
  id: '01890a0b-0c0d-7000-8000-000000000000',
  name: 'x',
  role: 'viewer',
  owner: 'ada',
  queues: null,
  createdAt: new Date(0),
  createdBy: 'x',
  expiresAt: null,
  lastUsedAt: null,
  revokedAt: null,
} as const

/** A store whose answers come when the test says so. */
function scripted() {
  const calls: string[][] = []
  const answers: PromiseWithResolvers<Credential[]>[] = []
  let now = 0
  const known = createKnownTokens(
    {
      findByHash: (hashes) => {
        calls.push(hashes)
        answers.push(Promise.withResolvers())
        return answers.at(-1)!.promise
      },
    },
    () => now,
  )
  const live = (text: string): Credential => ({
    hash: hashOf(text),
    token: TOKEN,
    state: 'live',
    sessionExpiresAt: null,
  })
  return {
    known,
    calls,
    live,
    answer: (index: number, found: string[]) => answers[index]!.resolve(found.map(live)),
    fail: (index: number, error: Error) => answers[index]!.reject(error),
    pass: (ms: number) => {
      now += ms
    },
  }
}

test('what was found is answered at once for two seconds, then asked again', async () => {
  const { known, calls, live, answer, pass } = scripted()
  const first = known.find('a')
  answer(0, ['a'])
  expect(await first).toEqual(live('a'))
  pass(1_999)
  expect(known.find('a')).toEqual(live('a'))
  pass(1)
  expect(known.find('a')).toBeInstanceOf(Promise)
  expect(calls).toHaveLength(2)
})

test('what was not found is remembered as well', async () => {
  const { known, calls, answer } = scripted()
  const first = known.find('a')
  answer(0, [])
  expect(await first).toBeNull()
  expect(known.find('a')).toBeNull()
  expect(calls).toHaveLength(1)
})

test('only one look-up is under way, and what comes meanwhile shares the next', async () => {
  const { known, calls, answer } = scripted()
  const asked = ['a', 'b', 'c', 'b'].map((text) => known.find(text))
  expect(calls).toEqual([[hashOf('a')]])
  answer(0, ['a'])
  await asked[0]
  await Promise.resolve()
  expect(calls[1]).toEqual([hashOf('b'), hashOf('c')])
  answer(1, ['b'])
  expect((await Promise.all(asked)).map((found) => found?.hash ?? null)).toEqual([
    hashOf('a'),
    hashOf('b'),
    null,
    hashOf('b'),
  ])
})

test('an answer that was on its way when everything was forgotten is not kept', async () => {
  const { known, answer } = scripted()
  const first = known.find('a')
  known.forget()
  answer(0, ['a'])
  await first
  expect(known.find('a')).toBeInstanceOf(Promise)
})

test('a failure reaches those who asked and is not kept', async () => {
  const { known, calls, fail } = scripted()
  const asked = known.find('a')
  fail(0, new Error('no database'))
  await expect(asked).rejects.toThrow('no database')
  void known.find('a')
  expect(calls).toHaveLength(2)
})

test('however many wrong tokens are tried, only the latest thousand are remembered', async () => {
  const { known, calls, answer } = scripted()
  for (let index = 0; index <= 1_000; index += 1) {
    const asked = known.find(`wrong ${index}`)
    answer(index, [])
    await asked
    await Promise.resolve()
  }
  expect(known.find('wrong 1000')).toBeNull()
  expect(known.find('wrong 0')).toBeInstanceOf(Promise)
  expect(calls).toHaveLength(1_002)
})
