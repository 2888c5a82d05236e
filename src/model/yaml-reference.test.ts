import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { yamlModelsOf } from './yaml-models.ts'
import { renderYamlReference } from './yaml-reference.ts'

const PAGE = new URL('../../docs/models-yaml.md', import.meta.url)
const TABLE = /(?<=<!-- keys -->\n)[\s\S]*?(?=<!-- \/keys -->)/
const folder = await tempFolder()
afterAll(() => folder.remove())

test('docs/models-yaml.md lists every key as the schema has it (UPDATE_GOLDEN=1 writes it)', () => {
  const page = readFileSync(PAGE, 'utf8')
  const written = page.replace(TABLE, () => `${renderYamlReference()}\n`)
  if (process.env.UPDATE_GOLDEN) writeFileSync(PAGE, written)
  else expect(page).toBe(written)
  expect(page).toMatch(TABLE)
})

test('keys inside others, kinds, bounds and defaults are in the table', () => {
  const table = renderYamlReference()
  expect(table).toContain('| `retry.max_attempts` | whole number, 1 to 1,000 |')
  expect(table).toContain('| `priority` | whole number, −100 to 100 | `0` |')
  expect(table).toContain('| `command` | list of text |')
  expect(table).toContain('| `kubernetes.image` | text | refused |')
})

test('the declarations shown on the page are good', () => {
  mkdirSync(join(folder.path, 'training'))
  const shown = [...readFileSync(PAGE, 'utf8').matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text!)
  expect(shown.length).toBeGreaterThan(1)
  for (const text of shown) {
    const { models, problems } = yamlModelsOf(new TextEncoder().encode(text), folder.path)
    expect(problems).toEqual([])
    expect(models.length).toBeGreaterThan(0)
  }
})
