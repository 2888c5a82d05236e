import { expect, test } from 'vitest'
import { MODEL } from '../../test/support/api.ts'
import type { Store } from '../store/store.ts'
import { createKnown } from './known.ts'

function createFixture() {
  const state = { nowMs: 0, reads: 0, isThere: true, isDown: false }
  const store = {
    async findModel() {
      state.reads += 1
      if (state.isDown) throw new Error('down')
      return state.isThere ? { definition: MODEL, registeredAt: new Date(0) } : null
    },
  } as Partial<Store> as Store
  return { state, known: createKnown(store, () => state.nowMs) }
}

test('a model is read once a second', async () => {
  const { state, known } = createFixture()
  await known.model('forecast', null)
  state.nowMs = 999
  await known.model('forecast', null)
  expect(state.reads).toBe(1)
  state.nowMs = 1_000
  await known.model('forecast', null)
  expect(state.reads).toBe(2)
})

test('versions are kept apart from each other and from the newest', async () => {
  const { state, known } = createFixture()
  await Promise.all([known.model('a', null), known.model('a', '1'), known.model('a', '2'), known.model('a1', null)])
  expect(state.reads).toBe(4)
})

test('callers at the same time share a reading', async () => {
  const { state, known } = createFixture()
  await Promise.all(Array.from({ length: 10 }, () => known.model('forecast', null)))
  expect(state.reads).toBe(1)
})

test('what is not there is asked for anew each time', async () => {
  const { state, known } = createFixture()
  state.isThere = false
  expect(await known.model('forecast', null)).toBeNull()
  state.isThere = true
  expect((await known.model('forecast', null))?.definition.name).toBe('forecast')
})

test('a failed reading fails its callers only', async () => {
  const { state, known } = createFixture()
  state.isDown = true
  await expect(known.model('forecast', null)).rejects.toThrow('down')
  state.isDown = false
  expect(await known.model('forecast', null)).not.toBeNull()
})
