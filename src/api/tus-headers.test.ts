/** The headers of tus: what fits is read, what does not is refused with its name. */

import type { FastifyRequest } from 'fastify'
import { describe, expect, test } from 'vitest'
import {
  checkTusBodyType,
  checkTusVersion,
  contentLengthOf,
  metadataHeader,
  uploadLengthOf,
  uploadMetadataOf,
  uploadOffsetOf,
} from './tus-headers.ts'
import { wantedUpload } from './upload-metadata.ts'

const request = (headers: Record<string, string | undefined>) => ({ headers }) as unknown as FastifyRequest
const base64 = (text: string) => Buffer.from(text).toString('base64')

test('the version must be the one that is spoken here', () => {
  expect(() => checkTusVersion(request({ 'tus-resumable': '1.0.0' }))).not.toThrow()
  for (const headers of [{}, { 'tus-resumable': '0.2.2' }])
    expect(() => checkTusVersion(request(headers))).toThrow(expect.objectContaining({ code: 'tus-version' }))
})

test('the type must be that of tus, whatever its case and parameters', () => {
  for (const type of ['application/offset+octet-stream', 'Application/Offset+Octet-Stream; charset=x'])
    expect(() => checkTusBodyType(request({ 'content-type': type }))).not.toThrow()
  for (const headers of [{}, { 'content-type': 'application/json' }])
    expect(() => checkTusBodyType(request(headers))).toThrow(
      expect.objectContaining({ code: 'unsupported-media-type' }),
    )
})

test('lengths and places are whole numbers', () => {
  expect(uploadLengthOf(request({ 'upload-length': '5368709120' }))).toBe(5_368_709_120)
  expect(uploadOffsetOf(request({ 'upload-offset': '0' }))).toBe(0)
  expect(contentLengthOf(request({}))).toBeNull()
  for (const text of ['', '-1', '1.5', '0x10', '1e3', '9'.repeat(16)]) {
    expect(() => uploadLengthOf(request({ 'upload-length': text }))).toThrow('Upload-Length')
    expect(() => uploadOffsetOf(request({ 'upload-offset': text }))).toThrow('Upload-Offset')
  }
  expect(() => uploadLengthOf(request({ 'upload-defer-length': '1' }))).toThrow('Upload-Defer-Length')
})

describe('metadata', () => {
  const read = (text: string) => uploadMetadataOf(request({ 'upload-metadata': text }))

  test('is read, with values of any text or none, and written as it was', () => {
    const text = `filename ${base64('ü ../x,y')},empty,filetype ${base64('text/plain')}`
    expect(read(text)).toEqual({ filename: 'ü ../x,y', empty: '', filetype: 'text/plain' })
    expect(metadataHeader(read(text))).toBe(text)
    expect(read(`a ${base64('x')} , b`)).toEqual({ a: 'x', b: '' })
    expect(read('')).toEqual({})
    expect(uploadMetadataOf(request({}))).toEqual({})
  })

  test.each([
    'filename not-base64!',
    `a ${base64('x')} ${base64('y')}`,
    `a ${base64('x')},a ${base64('y')}`,
    ',',
    `a ${Buffer.from([0xff]).toString('base64')}`,
    `a ${base64('x\u0000y')}`,
    `ü ${base64('x')}`,
  ])('%j is refused', (text) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: 'invalid-header' }))
  })

  test('names such as __proto__ are names like others', () => {
    const metadata = read(`__proto__ ${base64('x')}`)
    expect(Object.keys(metadata)).toEqual(['__proto__'])
    expect(wantedUpload(metadata)).toEqual({ name: 'file', key: null, batchId: null, title: null, model: null })
  })
})

describe('what an upload asks for', () => {
  test('is a name, a key, a batch, and a run', () => {
    const batch = '0F8FAD5B-D9CB-469F-A165-70867728950E'
    expect(
      wantedUpload({ filename: '../a.txt', key: 'k', batch, model: 'm', model_version: '2', parameters: '{"a":1}' }),
    ).toEqual({
      name: 'a.txt',
      key: 'k',
      batchId: batch.toLowerCase(),
      title: null,
      model: { model: 'm', model_version: '2', parameters: { a: 1 }, title: null },
    })
    expect(wantedUpload({ name: 'b.txt', title: 't', model: 'm' })).toMatchObject({
      name: 'b.txt',
      model: { title: 't' },
    })
  })

  test.each([
    [{ batch: 'x' }, 'batch'],
    [{ key: '' }, 'key'],
    [{ key: 'ü' }, 'key'],
    [{ model: '' }, 'model'],
    [{ parameters: '{}' }, 'model'],
    [{ model_version: '1' }, 'model'],
    [{ model: 'm', parameters: '[]' }, 'parameters'],
    [{ model: 'm', parameters: '{"a":1,"a":2}' }, 'parameters'],
    [{ title: 'x'.repeat(201) }, 'title'],
  ])('%j is refused for its %s', (metadata, name) => {
    expect(() => wantedUpload(metadata as Record<string, string>)).toThrow(`The value of ${name} in`)
  })
})
