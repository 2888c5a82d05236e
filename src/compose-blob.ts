/** Where large values go, by what is configured. Part of `compose.ts`. */

import { resolve } from 'node:path'
import type { BlobStore } from './blob/blob.ts'
import { createDiskBlobStore } from './blob/disk.ts'
import type { Config } from './config/config.ts'
import type { Store } from './store/store.ts'

type BlobConfig = Pick<Config, 's3' | 'result'>

export async function openBlobStore({ s3, result }: BlobConfig): Promise<BlobStore> {
  if (s3 === null) return createDiskBlobStore({ folder: resolve(result.artifactsDir) })
  // Loaded here and not above: the SDK is large, and a worker's memory is counted.
  const { createS3BlobStore } = await import('./blob/s3.ts')
  return createS3BlobStore(s3)
}

/** Large values of a database are in one place. A process that looked elsewhere would answer for runs whose results it cannot see. */
export async function checkBlobPlace(
  store: Pick<Store, 'bindArtifactsFolder'>,
  blob: Pick<BlobStore, 'identity'>,
  config: BlobConfig,
): Promise<void> {
  const here = await blob.identity()
  const bound = await store.bindArtifactsFolder(here)
  if (bound !== here) throw new Error(elsewhere(config, bound, here))
}

function elsewhere({ s3, result }: BlobConfig, bound: string, here: string): string {
  const ids = `(that one has the id ${bound}, this one ${here})`
  if (s3 !== null) {
    const place = `${s3.bucket}/${s3.prefix}`
    return (
      `the bucket ${place} is not where this database keeps its large values ${ids}. Set S3_BUCKET, S3_PREFIX and S3_ENDPOINT to the right ` +
      `place, or unset S3_BUCKET if they are in a folder. If all objects were copied here, or are lost for good, write ${bound} into the object ${s3.prefix}.holdfast-folder.`
    )
  }
  const folder = resolve(result.artifactsDir)
  return (
    `the artifacts folder ${folder} is not the one this database keeps its large results in ${ids}. ` +
    `Set HOLDFAST_ARTIFACTS_DIR to the right folder, or S3_BUCKET if they are in a bucket, or start in the folder you started in before. ` +
    `If the folder was copied or lost for good, write ${bound} into ${folder}/.holdfast-folder.`
  )
}
