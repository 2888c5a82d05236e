import { expect, it } from 'vitest'
import { matched } from './shortcut-keys.ts'

const known = new Set(['/', 'g r', 'r'])

it('one key is enough for some', () => expect(matched(known, null, '/', 0).shortcut).toBe('/'))

it('two in a row are one shortcut, not the second key', () => {
  const { shortcut, pressed } = matched(known, null, 'g', 0)
  expect(shortcut).toBeNull()
  expect(matched(known, pressed, 'r', 500)).toEqual({ shortcut: 'g r', pressed: null })
})

it('a pause forgets the first', () => expect(matched(known, { key: 'g', atMs: 0 }, 'r', 2_000).shortcut).toBe('r'))
