/** Files sent to a service under test: models that take them, requests that bring them, and what is left of them. */

import { createHash } from 'node:crypto'
import { onTestFinished } from 'vitest'
import type { BlobStore } from '../../src/blob/blob.ts'
import { refOf } from '../../src/blob/blob.ts'
import { UploadAnswer } from '../../src/contract/file.ts'
import type { ModelDefinition } from '../../src/run/definition.ts'
import { MODEL, type TestApi } from './api.ts'

const fileId = { type: 'string', format: 'holdfast-file', pattern: '^[0-9a-f]{64}$' }
/** Takes one file. */
const READER: ModelDefinition = {
  ...MODEL,
  name: 'reader',
  parametersSchema: {
    type: 'object',
    properties: { document: fileId, language: { type: 'string', default: 'en' } },
    required: ['document'],
    additionalProperties: false,
  },
}
const LISTER: ModelDefinition = {
  ...READER,
  name: 'lister',
  parametersSchema: { type: 'object', properties: { pages: { type: 'array', items: fileId } } },
}
const BOTH: ModelDefinition = {
  ...READER,
  name: 'both',
  parametersSchema: { type: 'object', properties: { a: fileId, b: fileId } },
}

export const FILE_MODELS = [MODEL, READER, LISTER, BOTH]

export const sha256Of = (text: string) => createHash('sha256').update(text).digest('hex')

/** Forgets every file and its bytes. */
export async function forgetFiles(api: TestApi): Promise<void> {
  await api.db.query('TRUNCATE files, owner_files, documents, file_uploads, run_files, batches')
  for (const name of await blobs(api)) await api.blob.delete(refOf(name))
}

export async function raw(api: TestApi, body: string | Buffer, query = '', headers: Record<string, string> = {}) {
  const type = { 'content-type': 'application/octet-stream' }
  return api.app.inject({ method: 'POST', url: `/files${query}`, headers: { ...type, ...headers }, payload: body })
}

export type Part = [field: string, text: string, name?: string]

function formOf(parts: Part[], boundary = 'XX'): string {
  const each = parts.map(([field, text, name]) => {
    const file = name === undefined ? '' : `; filename="${name}"`
    return `--${boundary}\r\nContent-Disposition: form-data; name="${field}"${file}\r\n\r\n${text}\r\n`
  })
  return `${each.join('')}--${boundary}--\r\n`
}

export const FORM = { 'content-type': 'multipart/form-data; boundary=XX' }
export const form = (api: TestApi, parts: Part[], headers: Record<string, string> = {}) =>
  api.app.inject({ method: 'POST', url: '/files', headers: { ...FORM, ...headers }, payload: formOf(parts) })

export const answerOf = (response: { json(): unknown }) => UploadAnswer.parse(response.json())

export async function blobs(api: TestApi): Promise<string[]> {
  const names = []
  for await (const { name } of api.blob.list()) names.push(name)
  return names
}

export const stored = async (api: TestApi) => (await api.db.query('SELECT id FROM file_uploads')).length

/** For the rest of the test. */
export function replacePut(api: TestApi, other: (put: BlobStore['put']) => BlobStore['put']): void {
  const { put } = api.blob
  api.blob.put = other(put)
  onTestFinished(() => {
    api.blob.put = put
  })
}
