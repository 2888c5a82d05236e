/**
 * Bytes on their way into an S3 bucket: in one request when they are few, else in parts, of which one is sent while the next is gathered.
 * An object appears whole, at its end. What breaks before is taken back; of a process that dies here the sweep takes the parts away.
 */

import { randomUUID } from 'node:crypto'
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { BlobStoreUnavailable } from './blob.ts'
import { asStoreError, type S3Connection } from './s3-connection.ts'

/** The least that S3 takes: about five of them are in memory at a time, with what the client and the socket hold. */
export const PART_BYTES = 5 * 1_048_576
/** S3 takes 10,000 parts. They grow, so that a stream of unknown length may have 280 GB. */
const PARTS_OF_ONE_SIZE = 1_000
const MARK = 'holdfast-put'

type Target = { Bucket: string; Key: string }

export async function upload(
  s3: S3Connection,
  key: string,
  pieces: AsyncIterable<Uint8Array>,
  partBytes = PART_BYTES,
): Promise<void> {
  const target = { Bucket: s3.place.bucket, Key: key }
  const parts = inParts(pieces, partBytes)
  const first = await parts.next()
  if (first.done) return putWhole(s3, target, new Uint8Array())
  if (first.value.isLast) return putWhole(s3, target, first.value.bytes)
  await putInParts(s3, target, first.value.bytes, parts)
}

async function putWhole(s3: S3Connection, target: Target, body: Uint8Array): Promise<void> {
  await s3.ask((client) => client.send(new PutObjectCommand({ ...target, Body: body })))
}

type Part = { bytes: Uint8Array; isLast: boolean }

/** Of equal size but for the last, which may be empty when it is not the only one. */
async function* inParts(pieces: AsyncIterable<Uint8Array>, partBytes: number): AsyncGenerator<Part, void, undefined> {
  let gathered: Uint8Array[] = []
  let gatheredBytes = 0
  let number = 1
  for await (const piece of pieces) {
    let rest = piece
    while (rest.byteLength > 0) {
      const room = partBytes * Math.ceil(number / PARTS_OF_ONE_SIZE) - gatheredBytes
      const taken = rest.subarray(0, room)
      rest = rest.subarray(room)
      gathered.push(taken)
      gatheredBytes += taken.byteLength
      if (taken.byteLength < room) continue
      const bytes = Buffer.concat(gathered)
      // Before it is handed on: who takes it may hold it for long.
      gathered = []
      gatheredBytes = 0
      number += 1
      yield { bytes, isLast: false }
    }
  }
  yield { bytes: Buffer.concat(gathered), isLast: true }
}

async function putInParts(
  s3: S3Connection,
  target: Target,
  first: Uint8Array,
  others: AsyncIterable<Part>,
): Promise<void> {
  const mark = randomUUID()
  const { UploadId } = await s3.ask((client) =>
    client.send(new CreateMultipartUploadCommand({ ...target, Metadata: { [MARK]: mark } })),
  )
  const upload = { ...target, UploadId }
  const done: CompletedPart[] = []

  async function send(PartNumber: number, Body: Uint8Array): Promise<void> {
    const command = () => new UploadPartCommand({ ...upload, PartNumber, Body })
    const { ETag } = await s3.ask((client) => client.send(command()))
    done.push({ ETag, PartNumber })
  }

  let number = 1
  let sending = send(number, first)
  try {
    // What fails while the next part is being gathered is told when that one is there.
    sending.catch(() => {})
    for await (const { bytes } of others) {
      await sending
      if (bytes.byteLength === 0) continue
      number += 1
      sending = send(number, bytes)
      sending.catch(() => {})
    }
    await sending
    await complete(s3, upload, done, mark)
  } catch (error) {
    await sending.catch(() => {})
    // The error that stopped the upload is the one to tell; parts that stay are found by the sweep.
    await s3.ask((client) => client.send(new AbortMultipartUploadCommand(upload))).catch(() => {})
    throw error
  }
}

/** Said again because the answer was lost, S3 knows the upload no more: whether it is ours that is there, its mark tells. */
async function complete(
  s3: S3Connection,
  upload: Target & { UploadId: string | undefined },
  Parts: CompletedPart[],
  mark: string,
): Promise<void> {
  const { Bucket, Key } = upload
  const command = () => new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } })
  const isDone = await s3.ask<boolean>(
    async (client) => {
      await client.send(command())
      return true
    },
    (error) => {
      if (error.name === 'NoSuchUpload') return false
      throw asStoreError(error)
    },
  )
  if (isDone) return
  const { Metadata } = await s3.ask((client) => client.send(new HeadObjectCommand({ Bucket, Key })))
  if (Metadata?.[MARK] !== mark) throw new BlobStoreUnavailable('S3: the upload was taken back by somebody else')
}
