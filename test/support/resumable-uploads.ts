/** The HTTP service with a model that takes a file, for the tests of resumable uploads. */

import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { ResumableUploadObject } from '../../src/contract/resumable-upload.ts'
import { allOf } from './all-of.ts'
import { createTestApi, MODEL, type TestApi, type TestApiOptions } from './api.ts'
import { tusRequests } from './tus.ts'

export const READER = {
  ...MODEL,
  name: 'reader',
  parametersSchema: {
    type: 'object',
    properties: {
      document: { type: 'string', format: 'holdfast-file', pattern: '^[0-9a-f]{64}$' },
      pages: { type: 'integer', minimum: 1 },
    },
    required: ['document'],
    additionalProperties: false,
  },
}

export async function openedForUploads(options: TestApiOptions = {}) {
  const api = await createTestApi({ models: [MODEL, READER], ...options })
  return { api, tus: tusRequests(api.app) }
}

export const namesIn = async ({ blob }: TestApi) => (await allOf(blob.list())).map(({ name }) => name)
export const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')

export async function finishedUpload(api: TestApi, path: string) {
  const shown = ResumableUploadObject.parse((await tusRequests(api.app).read(path)).json())
  expect(shown.finished).toBe(true)
  return shown.upload!
}
