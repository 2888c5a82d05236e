/**
 * Blobs as objects of one bucket of an S3-compatible store, e.g. `<prefix><run id>.a<attempt>.json`.
 *
 * An object appears whole or not at all, which is S3's own promise. The place knows who it is by a small object that only the first
 * process can write. Loaded only where a bucket is configured: the SDK is large.
 */

import { randomUUID } from 'node:crypto'
import { PassThrough, type Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import {
  BlobMissing,
  BlobRangeRefused,
  type BlobStat,
  type BlobStore,
  BlobStoreUnavailable,
  type ByteRange,
  isBlobName,
  type ListedBlob,
  nameOf,
  type OpenOptions,
  refOf,
} from './blob.ts'
import { assertRange, assertSize, assertWhole, Digest, factsOf, verified } from './digest.ts'
import {
  asStoreError,
  connectS3,
  isMissing,
  type S3Connection,
  type S3Limits,
  type S3Place,
  statusOf,
} from './s3-connection.ts'
import { removeUnfinishedUploads } from './s3-unfinished.ts'
import { PART_BYTES, upload } from './s3-upload.ts'

const IDENTITY_NAME = '.holdfast-folder'
const IDENTITY_TRIES_MAX = 5
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export type S3Options = S3Place & { limits?: Partial<S3Limits>; partBytes?: number }

export function createS3BlobStore({ limits, partBytes = PART_BYTES, ...place }: S3Options): BlobStore {
  const s3 = connectS3(place, limits)
  const keyOf = (ref: string) => place.prefix + nameOf(ref)
  return {
    async put(name, bytes) {
      const ref = refOf(name)
      const digest = new Digest()
      const pieces = bytes instanceof Uint8Array ? [bytes] : bytes
      await upload(s3, place.prefix + name, digest.through(pieces), partBytes)
      return { ref, ...digest.facts() }
    },
    async get(ref, expect) {
      const { size, stream } = await read(s3, ref, keyOf(ref))
      const bytes = await buffer(stream)
      assertSize(ref, bytes.length, { bytes: size, sha256: '' })
      if (expect) assertWhole(ref, factsOf(bytes), expect)
      return bytes
    },
    open: (ref, options) => openObject(s3, ref, options),
    stat: async (ref) => statObject(s3, keyOf(ref)),
    async delete(ref) {
      const command = new DeleteObjectCommand({ Bucket: place.bucket, Key: keyOf(ref) })
      await s3.ask<unknown>((client) => client.send(command), gone)
    },
    list: () => listObjects(s3),
    removeUnfinished: (olderThanMs) => removeUnfinishedUploads(s3, olderThanMs),
    identity: () => readOrMakeIdentity(s3),
  }
}

async function openObject(s3: S3Connection, ref: string, { range, expect }: OpenOptions = {}) {
  const key = s3.place.prefix + nameOf(ref)
  if (range) assertRange(ref, range)
  const { size, stream } = await read(s3, ref, key, range)
  try {
    assertSize(ref, size, expect)
  } catch (error) {
    stream.destroy()
    throw error
  }
  return { size, stream: verified(ref, stream, range ? undefined : expect) }
}

async function read(s3: S3Connection, ref: string, key: string, range?: ByteRange) {
  const command = new GetObjectCommand({
    Bucket: s3.place.bucket,
    Key: key,
    ...(range && { Range: `bytes=${range.start}-${range.end}` }),
  })
  const { Body, ContentLength, ContentRange } = await s3.ask(
    (client) => client.send(command),
    (error) => {
      if (isMissing(error)) throw new BlobMissing(ref, { cause: error })
      if (range && statusOf(error) === 416) throw new BlobRangeRefused(ref, range, { cause: error })
      throw asStoreError(error)
    },
  )
  const body = Body as Readable
  const size = range ? Number(/\/(\d+)$/.exec(ContentRange ?? '')?.[1] ?? Number.NaN) : ContentLength
  if (size === undefined || !Number.isSafeInteger(size)) {
    body.destroy()
    // An empty object has no range; some servers answer the whole of it instead of saying so.
    if (range && ContentLength === 0) throw new BlobRangeRefused(ref, range)
    throw new BlobStoreUnavailable('S3: it did not say how many bytes there are')
  }
  return { size, stream: withOurErrors(body) }
}

/** Bytes that stop coming are the store's failure; a reader that goes away lets go of the connection. */
function withOurErrors(body: Readable): Readable {
  const ours = new PassThrough()
  body.once('error', (error) => ours.destroy(asStoreError(error)))
  ours.once('close', () => body.destroy())
  return body.pipe(ours)
}

async function statObject(s3: S3Connection, key: string): Promise<BlobStat | null> {
  return s3.ask<BlobStat | null>(
    async (client) => {
      const found = await client.send(new HeadObjectCommand({ Bucket: s3.place.bucket, Key: key }))
      return { bytes: found.ContentLength ?? 0, modifiedAt: found.LastModified ?? new Date(0) }
    },
    (error) => {
      if (isMissing(error)) return null
      throw asStoreError(error)
    },
  )
}

async function* listObjects(s3: S3Connection): AsyncIterable<ListedBlob> {
  const { bucket: Bucket, prefix: Prefix } = s3.place
  let ContinuationToken: string | undefined
  do {
    const command = new ListObjectsV2Command({ Bucket, Prefix, Delimiter: '/', ContinuationToken })
    const page = await s3.ask((client) => client.send(command))
    for (const { Key = '', Size = 0, LastModified } of page.Contents ?? []) {
      const name = Key.slice(Prefix.length)
      if (isBlobName(name) && LastModified) yield { name, bytes: Size, modifiedAt: LastModified }
    }
    ContinuationToken = page.NextContinuationToken
  } while (ContinuationToken)
}

/** Of several processes at once one is the first to write; the others are told so and read what it wrote. */
async function readOrMakeIdentity(s3: S3Connection): Promise<string> {
  const Key = s3.place.prefix + IDENTITY_NAME
  for (let tries = 0; tries < IDENTITY_TRIES_MAX; tries += 1) {
    const known = await readIdentity(s3, Key)
    if (known) return known
    const command = new PutObjectCommand({
      Bucket: s3.place.bucket,
      Key,
      Body: Buffer.from(`${randomUUID()}\n`),
      IfNoneMatch: '*',
    })
    await s3.ask<unknown>(
      (client) => client.send(command),
      (error) => {
        const status = statusOf(error)
        if (status !== 412 && status !== 409) throw asStoreError(error)
      },
    )
  }
  throw new BlobStoreUnavailable(`S3: the object ${Key} cannot be read after it was written`)
}

async function readIdentity(s3: S3Connection, key: string): Promise<string | null> {
  let bytes: Buffer
  try {
    bytes = await buffer((await read(s3, key, key)).stream)
  } catch (error) {
    if (error instanceof BlobMissing) return null
    throw error
  }
  const id = bytes.toString().trim()
  if (UUID.test(id)) return id
  throw new Error(
    `the object ${key} does not hold a folder id; restore it from a backup, or delete it if the bucket is new`,
  )
}

function gone(error: Parameters<typeof isMissing>[0]): void {
  if (!isMissing(error)) throw asStoreError(error)
}
