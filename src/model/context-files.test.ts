/** `ctx.files` and `ctx.file`. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { contextFiles, fileOf } from './context-files.ts'

const input = (parameter: string, path = '/nowhere') => ({
  parameter,
  fileId: 'a'.repeat(64),
  name: 'a.txt',
  bytes: 5,
  type: 'text/plain',
  path,
})

test('a file is read as a whole or as a stream', async () => {
  const folder = await tempFolder()
  onTestFinished(folder.remove)
  const path = join(folder.path, 'a')
  await writeFile(path, 'bytes')
  const file = fileOf(contextFiles([input('/document', path)]), 'document')
  expect(file).toMatchObject({ name: 'a.txt', bytes: 5, path })
  expect((await file.read()).toString()).toBe('bytes')
  expect(await text(file.stream())).toBe('bytes')
})

test('the only file of a list is found by the name of the list', () => {
  const files = contextFiles([input('/pages/0'), input('/pagesize')])
  expect(fileOf(files, 'pages').parameter).toBe('/pages/0')
})

test.each([
  ['none', [input('/other')], 'the parameter document has no file; files are at /other'],
  ['none at all', [], 'the parameter document has no file; the run has none'],
  ['several', [input('/document/0'), input('/document/1')], 'the parameter document has 2 files'],
])('a parameter with %s throws a Fatal', (_, files, message) => {
  expect(() => fileOf(contextFiles(files), 'document')).toThrow(expect.objectContaining({ name: 'Fatal' }))
  expect(() => fileOf(contextFiles(files), 'document')).toThrow(message)
})
