import { expect, it } from 'vitest'
import { unfinishedIn, uploadMemoryIn } from './unfinished.ts'

function shelf(start: Record<string, string> = {}) {
  const kept = new Map(Object.entries(start))
  return {
    kept,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
    key: (index: number) => [...kept.keys()][index] ?? null,
    get length() {
      return kept.size
    },
  }
}
const DAY_MS = 86_400_000
const one = { title: 'May', model: 'documents', files: 50, atMs: 10 * DAY_MS }

it('remembers a batch until it is wholly sent', () => {
  const memory = unfinishedIn(shelf())
  expect(memory.get('b')).toBeNull()
  memory.set('b', one)
  expect(memory.get('b')).toEqual(one)
  memory.delete('b')
  expect(memory.get('b')).toBeNull()
})

it('forgets what is days old, and what it cannot read, and nothing of others', () => {
  const kept = shelf({ other: '1' })
  const memory = unfinishedIn(kept)
  memory.set('old', { ...one, atMs: 0 })
  kept.setItem('holdfast:documents:unfinished:bad', '{"title": 3}')
  memory.set('b', one)
  expect([...kept.kept.keys()].sort()).toEqual(['holdfast:documents:unfinished:b', 'other'])
})

it('knows where large files have begun', () => {
  const memory = uploadMemoryIn(shelf())
  memory.set('[1]', 'up-1')
  expect(memory.get('[1]')).toBe('up-1')
  memory.delete('[1]')
  expect(memory.get('[1]')).toBeNull()
})

it('a browser that keeps nothing is no trouble', () => {
  const full = {
    ...shelf(),
    setItem: () => {
      throw new Error('full')
    },
  }
  expect(() => unfinishedIn(full).set('b', one)).not.toThrow()
  expect(uploadMemoryIn(null).get('x')).toBeNull()
  expect(unfinishedIn(null).get('b')).toBeNull()
})
