import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { exampleModels } from './example-models.ts'

const temporary = await tempFolder()
afterAll(() => temporary.remove())

test('declarations in the folder are offered beside the examples', () => {
  const folder = mkdtempSync(join(temporary.path, 'with-'))
  writeFileSync(join(folder, 'holdfast.yaml'), '')
  expect(exampleModels(folder).slice(2)).toEqual([join(folder, 'holdfast.yaml')])
})

test('without declarations there are the examples alone', () => {
  const folder = mkdtempSync(join(temporary.path, 'without-'))
  expect(exampleModels(folder)).toEqual([
    expect.stringMatching(/baseline-forecast\.ts$/),
    expect.stringMatching(/document-pipeline\.ts$/),
  ])
})
