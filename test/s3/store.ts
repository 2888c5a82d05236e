/** A store over the bucket that `npm run test:s3` made on the server it started. */

import type { BlobStore } from '../../src/blob/blob.ts'
import { createS3BlobStore, type S3Options } from '../../src/blob/s3.ts'

export const PLACE = {
  bucket: 'holdfast',
  endpoint: process.env.HOLDFAST_TEST_S3 ?? 'http://127.0.0.1:1',
  region: 'us-east-1',
  credentials: { accessKeyId: 'holdfast', secretAccessKey: 'holdfast-secret' },
  isPathStyle: true,
}

export function s3Store(options: Partial<S3Options> & { prefix: string }): BlobStore {
  return createS3BlobStore({ ...PLACE, ...options })
}
