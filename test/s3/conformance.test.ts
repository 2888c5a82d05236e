/** The conformance suite of the blob port over a real S3 server, and what only S3 has. */

import { ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3'
import { describe, expect, it } from 'vitest'
import { keepsTheBlobContract } from '../conformance/blob.ts'
import { PLACE, s3Store } from './store.ts'

const run = crypto.randomUUID()

describe('blobs in S3', () => {
  keepsTheBlobContract({ open: async (place) => s3Store({ prefix: `${run}/${place}/` }), randomRuns: 20 })
})

const MIB = 1_048_576

async function* mebibytes(count: number, atEnd?: () => Promise<void>) {
  for (let i = 0; i < count; i += 1) yield Buffer.alloc(MIB, i)
  await atEnd?.()
}

async function unfinishedIn(prefix: string): Promise<number> {
  const client = new S3Client({ ...PLACE, forcePathStyle: true })
  const found = await client.send(new ListMultipartUploadsCommand({ Bucket: PLACE.bucket, Prefix: prefix }))
  return found.Uploads?.length ?? 0
}

describe('uploads in parts', () => {
  it('leaves no parts when the source breaks after some of them', async () => {
    const prefix = `${run}/broken/`
    const store = s3Store({ prefix, partBytes: 5 * MIB })
    let whileOpen = 0
    const breaks = async () => {
      whileOpen = await unfinishedIn(prefix)
      throw new Error('broken off')
    }
    await expect(store.put('a', mebibytes(12, breaks))).rejects.toThrow('broken off')
    expect([whileOpen, await unfinishedIn(prefix), await store.stat('artifacts/a')]).toEqual([1, 0, null])
  })

  it('shows nothing of an upload that stopped, and the sweep takes it away, but none that goes on', async () => {
    const prefix = `${run}/stopped/`
    const store = s3Store({ prefix, partBytes: 5 * MIB })
    let goOn = () => {}
    const stopped = new Promise<void>((resume) => {
      goOn = resume
    })
    const isStopped = Promise.withResolvers<void>()
    const put = store.put(
      'a',
      mebibytes(12, () => {
        isStopped.resolve()
        return stopped
      }),
    )
    await isStopped.promise
    expect(await store.stat('artifacts/a')).toBeNull()
    expect([await store.removeUnfinished(60_000), await unfinishedIn(prefix)]).toEqual([0, 1])
    // Half a minute in the future everything there is has been there for half a minute.
    expect([await store.removeUnfinished(-30_000), await unfinishedIn(prefix)]).toEqual([1, 0])
    goOn()
    await expect(put).rejects.toThrow()
    expect(await store.stat('artifacts/a')).toBeNull()
  })

  it('reads a range across parts', async () => {
    const store = s3Store({ prefix: `${run}/ranged/`, partBytes: 5 * MIB })
    const { ref, bytes } = await store.put('a', mebibytes(12))
    expect(bytes).toBe(12 * MIB)
    const { size, stream } = await store.open(ref, { range: { start: 5 * MIB - 2, end: 5 * MIB + 1 } })
    expect([size, [...Buffer.concat(await stream.toArray())]]).toEqual([12 * MIB, [4, 4, 5, 5]])
  })
})
