/**
 * The connection to an S3 endpoint: limits on how long it is waited for and how often it is asked again, and what its errors mean here.
 * Whatever stays wrong after that is a BlobStoreUnavailable, so that no caller needs to know S3.
 */

import { S3Client, type S3ClientConfig, S3ServiceException } from '@aws-sdk/client-s3'
import { BlobStoreFull, BlobStoreUnavailable } from './blob.ts'

export type S3Place = {
  bucket: string
  /** Null for Amazon's own. */
  endpoint: string | null
  region: string
  /** Null: as the SDK finds them (environment, shared files, the machine's role). */
  credentials: { accessKeyId: string; secretAccessKey: string } | null
  /** Before every name, as it is. */
  prefix: string
  isPathStyle: boolean
}

export type S3Limits = { connectMs: number; requestMs: number; idleMs: number; triesMax: number }

const LIMITS: S3Limits = { connectMs: 5_000, requestMs: 30_000, idleMs: 120_000, triesMax: 3 }

export type S3Connection = {
  place: S3Place
  /** Asks, again if need be; rejects with a BlobStoreUnavailable, a BlobStoreFull, or what `expected` makes of the error. */
  ask<T>(asked: (client: S3Client) => Promise<T>, expected?: (error: S3ServiceException) => T): Promise<T>
}

export function connectS3(place: S3Place, limits: Partial<S3Limits> = {}): S3Connection {
  const { connectMs, requestMs, idleMs, triesMax } = { ...LIMITS, ...limits }
  const client = new S3Client({
    region: place.region,
    forcePathStyle: place.isPathStyle,
    ...(place.endpoint !== null && { endpoint: place.endpoint }),
    // A copy: the client notes on it where it came from, and the configuration is frozen.
    ...(place.credentials && { credentials: { ...place.credentials } }),
    maxAttempts: triesMax,
    // The body's SHA-256 is signed with every request. Checksums beyond that, and waiting for leave to send, are not understood everywhere.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: connectMs,
      requestTimeout: requestMs,
      throwOnRequestTimeout: true,
      socketTimeout: idleMs,
    },
  } satisfies S3ClientConfig)
  return {
    place,
    async ask(asked, expected) {
      try {
        return await asked(client)
      } catch (error) {
        if (expected && error instanceof S3ServiceException) return expected(error)
        throw asStoreError(error)
      }
    },
  }
}

const FULL =
  /^(InsufficientStorage|InsufficientCapacity|QuotaExceeded|XMinioStorageFull|XMinioAdminBucketQuotaExceeded)$/

export function asStoreError(error: unknown): Error {
  const { name, message } = error as Error
  const status = statusOf(error)
  if (FULL.test(name) || status === 507) return new BlobStoreFull('it in the bucket', { cause: error })
  const code = (error as NodeJS.ErrnoException).code ?? (status === undefined ? '' : `status ${status}`)
  const reason = [name === 'Error' ? '' : name, code, message].filter((part) => part !== '').join(', ')
  return new BlobStoreUnavailable(`S3: ${reason}`, { cause: error })
}

/** Not found as an object; a bucket that is not there is a fault of the settings. */
export function isMissing(error: S3ServiceException): boolean {
  return error.name === 'NoSuchKey' || (error.name !== 'NoSuchBucket' && statusOf(error) === 404)
}

export function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode
}
