/**
 * Remembers uploads that did not come to their end, so that the same command goes on with them: a small file per upload in the folder for
 * temporary files of this user. What cannot be remembered is sent from its beginning; that is all.
 */

import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { UploadMemory } from '../../client/src/upload.ts'

const ID = /^[0-9a-f-]{36}$/

/** `service` is part of what is remembered: an id means nothing elsewhere. */
export function createUploadMemory(
  service: string,
  folder: string = join(tmpdir(), `holdfast-uploads-${userInfo().uid}`),
): UploadMemory {
  const pathOf = (fingerprint: string) =>
    join(folder, createHash('sha256').update(`${service}\n${fingerprint}`).digest('hex'))
  return {
    async get(fingerprint) {
      const text = await readFile(pathOf(fingerprint), 'utf8').catch(() => '')
      return ID.test(text) ? text : null
    },
    async set(fingerprint, uploadId) {
      await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => {})
      await writeFile(pathOf(fingerprint), uploadId, { mode: 0o600 }).catch(() => {})
    },
    async delete(fingerprint) {
      await rm(pathOf(fingerprint), { force: true }).catch(() => {})
    },
  }
}
