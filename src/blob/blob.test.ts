/** The conformance suite over the stores that need nothing else. Over S3 it runs in `npm run test:s3`. */

import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { keepsTheBlobContract } from '../../test/conformance/blob.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import type { BlobStore } from './blob.ts'
import { createDiskBlobStore } from './disk.ts'
import { createMemoryBlobStore } from './memory.ts'

describe('blobs in memory', () => {
  const stores = new Map<string, BlobStore>()
  keepsTheBlobContract({
    async open(place) {
      const store = stores.get(place) ?? createMemoryBlobStore()
      stores.set(place, store)
      return store
    },
    isInMemory: true,
  })
})

describe('blobs on disk', () => {
  let folder: Awaited<ReturnType<typeof tempFolder>>
  beforeAll(async () => {
    folder = await tempFolder()
  })
  afterAll(() => folder.remove())
  keepsTheBlobContract({ open: (place) => createDiskBlobStore({ folder: join(folder.path, place) }) })
})
