/** Takes away the parts of uploads to S3 whose process died: they cost room and are seen by nobody. */

import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  type ListPartsCommandOutput,
  type MultipartUpload,
} from '@aws-sdk/client-s3'
import { isBlobName } from './blob.ts'
import { asStoreError, isMissing, type S3Connection } from './s3-connection.ts'

export async function removeUnfinishedUploads(s3: S3Connection, olderThanMs: number): Promise<number> {
  const { bucket: Bucket, prefix } = s3.place
  const before = Date.now() - olderThanMs
  let removed = 0
  for await (const { Key = '', UploadId, Initiated } of unfinished(s3)) {
    if (!isBlobName(Key.slice(prefix.length)) || !Initiated || Initiated.getTime() > before) continue
    const upload = { Bucket, Key, UploadId }
    if ((await lastPartAtMs(s3, upload)) > before) continue
    const isOurs = await s3.ask<boolean>(
      async (client) => {
        await client.send(new AbortMultipartUploadCommand(upload))
        return true
      },
      (error) => {
        // It came to its end, or another sweep was first.
        if (isMissing(error)) return false
        throw asStoreError(error)
      },
    )
    if (isOurs) removed += 1
  }
  return removed
}

async function* unfinished(s3: S3Connection): AsyncIterable<MultipartUpload> {
  const { bucket: Bucket, prefix: Prefix } = s3.place
  let marker: { KeyMarker?: string; UploadIdMarker?: string } | null = {}
  while (marker) {
    const command: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({ Bucket, Prefix, ...marker })
    const page = await s3.ask((client) => client.send(command))
    yield* page.Uploads ?? []
    const { IsTruncated, NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page
    marker = IsTruncated && KeyMarker ? { KeyMarker, UploadIdMarker } : null
  }
}

type Upload = { Bucket: string; Key: string; UploadId: string | undefined }

async function lastPartAtMs(s3: S3Connection, upload: Upload): Promise<number> {
  let lastAtMs = 0
  let PartNumberMarker: string | undefined
  do {
    const command: ListPartsCommand = new ListPartsCommand({ ...upload, PartNumberMarker })
    const page = await s3.ask<Pick<ListPartsCommandOutput, 'Parts' | 'IsTruncated' | 'NextPartNumberMarker'>>(
      (client) => client.send(command),
      (error) => {
        if (isMissing(error)) return {}
        throw asStoreError(error)
      },
    )
    for (const { LastModified } of page.Parts ?? []) lastAtMs = Math.max(lastAtMs, LastModified?.getTime() ?? 0)
    PartNumberMarker = page.IsTruncated ? page.NextPartNumberMarker : undefined
  } while (PartNumberMarker)
  return lastAtMs
}
