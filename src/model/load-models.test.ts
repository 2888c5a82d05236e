import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { loadModels } from './load-models.ts'

const FIXTURES = join(import.meta.dirname, 'fixtures')
const folder = mkdtempSync(join(tmpdir(), 'holdfast-load-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('every export that is a model is taken, once', async () => {
  const registry = await loadModels(['./several.ts'], FIXTURES)
  const names = registry.all().map(({ name, version }) => `${name}@${version}`)
  expect(names.toSorted()).toEqual(['by-default@1', 'first-of-list@1', 'named@2', 'second-of-list@1'])
  expect(registry.find('named', '2')?.name).toBe('named')
  expect(registry.find('named', '1')).toBeUndefined()
})

test('a file may be named without a leading dot, or by its address', async () => {
  const byName = await loadModels(['several.ts'], FIXTURES)
  const byAddress = await loadModels([new URL('./fixtures/several.ts', import.meta.url).href], tmpdir())
  expect([byName.all().length, byAddress.all().length]).toEqual([4, 4])
})

test('the same module named twice offers its models once', async () => {
  expect((await loadModels(['several.ts', './several.ts'], FIXTURES)).all()).toHaveLength(4)
})

test('a missing file is told with the path tried', async () => {
  await expect(loadModels(['models/missing.ts'], '/srv')).rejects.toThrow('tried /srv/models/missing.ts')
})

test('a missing package is told by its name', async () => {
  await expect(loadModels(['no-such-package'], FIXTURES)).rejects.toThrow('no-such-package')
})

test('a module without models is told with what it exports', async () => {
  await expect(loadModels(['./no-models.ts'], FIXTURES)).rejects.toThrow('it exports answer, default, none of which')
})

describe('a file that type stripping cannot run is told with file, line and cure', () => {
  test.each([
    ['enum', 'const a: number = 1\n\nexport enum Color { Red }\n', 3, 'constant object and a union type'],
    ['property', 'export class A {\n  constructor(private x: number) {}\n}\n', 2, 'assign it in the constructor'],
    ['namespace', 'namespace X { export const a = 1 }\nexport const b = X.a\n', 1, 'module of its own'],
    ['require', "\nimport fs = require('node:fs')\nexport const x = fs\n", 2, 'import x from'],
    ['broken', 'export const a = 1\nexport const x: = 3\n', 2, 'could not be loaded'],
  ])('%s', async (name, text, line, cure) => {
    const file = join(folder, `${name}.ts`)
    writeFileSync(file, text)
    const importing = join(folder, `imports-${name}.ts`)
    writeFileSync(importing, `import './${name}.ts'\n`)
    const message = await loadErrorInNode(importing)
    expect(message).toContain(`${file}:${line}: `)
    expect(message).toContain(cure)
  })

  test('an import without its extension', async () => {
    const file = join(folder, 'bare.ts')
    writeFileSync(file, "import './enum'\n")
    expect(await loadErrorInNode(file)).toContain('need their extension')
  })
})

async function loadErrorInNode(file: string): Promise<string> {
  const program = join(FIXTURES, 'print-load-error.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [program, file])
  return stdout
}
