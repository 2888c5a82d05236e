/** Where a result goes by its size, and what happens when it cannot be kept. */

import { expect, it } from 'vitest'
import { fakeLease } from '../../test/support/fake-lease.ts'
import { type BlobStore, BlobStoreFull, BlobStoreUnavailable } from '../blob/blob.ts'
import { createMemoryBlobStore } from '../blob/memory.ts'
import { canonicalText, sha256 } from '../run/canonical.ts'
import { keepResult } from './keep-result.ts'

const lease = fakeLease({ runId: '01900000-0000-7000-8000-00000000000a', attempt: 2 })

function keep(text: string, changes: { blob?: BlobStore; inlineBytes?: number; maxBytes?: number } = {}) {
  return keepResult(lease, text, [], { blob: createMemoryBlobStore(), inlineBytes: 100, maxBytes: 1_000, ...changes })
}

/** The text of a JSON string with so many bytes, quotes included. */
const ofBytes = (bytes: number, letter = 'x') => `"${letter.repeat((bytes - 2) / Buffer.byteLength(letter))}"`

/** A store that must not be reached. */
const closed = { put: () => Promise.reject(new Error('not to be written')) } as unknown as BlobStore

it.each([
  ['one byte', 'x', 100],
  ['two bytes', 'é', 100],
  ['three bytes', '€', 98],
  ['four bytes', '🦀', 98],
])('a result of exactly the inline limit stays inline, in letters of %s', async (_, letter, bytes) => {
  const text = ofBytes(bytes, letter)
  expect(await keep(text, { inlineBytes: bytes, blob: closed })).toEqual({
    ok: true,
    result: { ref: 'inline', hash: sha256(text), text },
  })
})

it('one byte more goes to a blob named after run and attempt, whole, before anything is settled', async () => {
  const blob = createMemoryBlobStore()
  const text = ofBytes(101)
  const kept = await keep(text, { blob })
  const ref = `artifacts/${lease.runId}.a2.json`
  expect(kept).toEqual({ ok: true, result: { ref, hash: sha256(text), text: null } })
  expect(Buffer.from(await blob.get(ref)).toString()).toBe(text)
})

it('an inline limit of nothing sends even the smallest result to a blob', async () => {
  expect(await keep('1', { inlineBytes: 0 })).toMatchObject({ ok: true, result: { text: null } })
})

it('the hash leaves out what the model declares volatile', async () => {
  const options = { blob: createMemoryBlobStore(), inlineBytes: 100, maxBytes: 1_000 }
  const hashes = await Promise.all(
    [1, 2].map(async (seconds) => {
      const kept = await keepResult(lease, canonicalText({ answer: 42, seconds }), ['seconds'], options)
      return kept.ok && kept.result.hash
    }),
  )
  expect(hashes).toEqual([sha256('{"answer":42}'), sha256('{"answer":42}')])
})

it('a result above the greatest size fails for good and names the setting', async () => {
  const kept = await keep(ofBytes(1_001), { blob: closed })
  expect(kept).toMatchObject({ ok: false, error: { class: 'ResultTooLarge', retryable: false } })
  expect(!kept.ok && kept.error.message).toContain('HOLDFAST_RESULT_MAX_BYTES')
})

it('the greatest size itself is kept', async () => {
  expect(await keep(ofBytes(1_000))).toMatchObject({ ok: true })
})

it('a full disk fails the attempt so that it may be tried again', async () => {
  const full = { put: (name: string) => Promise.reject(new BlobStoreFull(name)) } as unknown as BlobStore
  const kept = await keep(ofBytes(500), { blob: full })
  expect(kept).toMatchObject({ ok: false, error: { class: 'ArtifactStoreFull' } })
  expect(!kept.ok && kept.error.retryable).toBeUndefined()
})

it('any other failure to write fails the attempt with its reason', async () => {
  const kept = await keep(ofBytes(500), { blob: closed })
  expect(kept).toMatchObject({ ok: false, error: { class: 'ArtifactStoreFailed' } })
  expect(!kept.ok && kept.error.message).toContain('not to be written')
})

it('a store that does not answer fails the attempt so that it may be tried again', async () => {
  const away = { put: () => Promise.reject(new BlobStoreUnavailable('S3: SlowDown')) } as unknown as BlobStore
  const kept = await keep(ofBytes(500), { blob: away })
  expect(kept).toMatchObject({ ok: false, error: { class: 'ArtifactStoreFailed' } })
  expect(!kept.ok && [kept.error.message, kept.error.retryable]).toEqual([
    'the result could not be stored: the store of large values is not available: S3: SlowDown',
    undefined,
  ])
})
