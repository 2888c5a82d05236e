/** What is published: compiled alone against the types of a browser, without dependencies and without anything of Node. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tempFolder } from '../../test/support/temp-folder.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')
const SOURCES = join(ROOT, 'client/src')

let folder: Awaited<ReturnType<typeof tempFolder>>
let built: string
beforeAll(async () => {
  folder = await tempFolder()
  built = join(folder.path, 'node_modules/@holdfast/client')
  mkdirSync(built, { recursive: true })
  execFileSync(process.execPath, [TSC, '-p', join(ROOT, 'client'), '--outDir', built], { stdio: 'pipe' })
  const forNode = ['-p', join(ROOT, 'client/tsconfig.node.json'), '--outDir', join(built, 'node')]
  execFileSync(process.execPath, [TSC, ...forNode], { stdio: 'pipe' })
  execFileSync(process.execPath, [join(ROOT, 'client/write-package.ts'), built], { stdio: 'pipe' })
})
afterAll(() => folder.remove())

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')

function importsIn(text: string): string[] {
  return [...withoutComments(text).matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g)].map((match) => match[1]!)
}

test('the package needs nothing: neither packages nor Node', () => {
  const { dependencies, peerDependencies, exports } = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8'))
  expect([dependencies, peerDependencies]).toEqual([undefined, undefined])
  expect(exports).toEqual({
    '.': { types: './index.d.ts', default: './index.js' },
    './node': { types: './node/file-at.d.ts', default: './node/file-at.js' },
  })
  const files = readdirSync(built).filter((name) => /\.(js|d\.ts)$/.test(name))
  expect(files.length).toBeGreaterThan(20)
  const strange = files.flatMap((name) =>
    importsIn(readFileSync(join(built, name), 'utf8')).filter((specifier) => !/^\.\/[\w-]+\.(js|ts)$/.test(specifier)),
  )
  expect(strange).toEqual([])
  const text = files.map((name) => withoutComments(readFileSync(join(built, name), 'utf8'))).join('\n')
  expect(text).not.toMatch(/node:|\bprocess\.|\bBuffer\b|\brequire\(/)
})

test('it can be imported where it is installed', () => {
  const script = `import * as client from '@holdfast/client'; console.log(Object.keys(client).sort().join())`
  const options = { cwd: folder.path, encoding: 'utf8' } as const
  const names = execFileSync(process.execPath, ['--input-type=module', '-e', script], options).trim()
  expect(names.split(',')).toEqual([
    'Conflict',
    'CostLimitExceeded',
    'Holdfast',
    'HoldfastError',
    'MaxRetriesExceeded',
    'QuotaExceeded',
    'RunCancelled',
    'RunFailed',
    'Timeout',
    'Transient',
    'UploadFailed',
    'WebhookNotVerified',
    'fromEnvironment',
    'newUuid',
    'sha256Of',
    'verifyWebhook',
  ])
})

test('what needs Node is apart, and needs nothing else', () => {
  const script = `import { fileAt } from '@holdfast/client/node'; console.log((await fileAt(process.argv[1])).size)`
  const options = { cwd: folder.path, encoding: 'utf8' } as const
  const path = join(built, 'package.json')
  const size = execFileSync(process.execPath, ['--input-type=module', '-e', script, path], options).trim()
  expect(Number(size)).toBe(readFileSync(path).byteLength)
})

test('its declarations say everything to who uses it', async () => {
  const consumer = join(folder.path, 'consumer.ts')
  const lines = [
    `import { Holdfast, type Run } from '@holdfast/client'`,
    `export const run: Promise<Run> = new Holdfast({ url: '' }).get('x')`,
    '// @ts-expect-error: a run is no number, and would be one if its type were lost.',
    `export const wrong: Promise<number> = new Holdfast({ url: '' }).get('x')`,
  ]
  await writeFile(consumer, lines.join('\n'))
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--lib', 'es2024,dom']
  execFileSync(process.execPath, [TSC, ...options, '--types', '', consumer], { stdio: 'pipe', cwd: folder.path })
})

test('the sources import each other and nothing else', () => {
  const files = readdirSync(SOURCES).filter((name) => name.endsWith('.ts') && !name.includes('.test.'))
  const strays = files.flatMap((name) =>
    importsIn(readFileSync(join(SOURCES, name), 'utf8'))
      .map((specifier) => relative(SOURCES, resolve(dirname(join(SOURCES, name)), specifier)))
      .filter((path) => !files.includes(path))
      .map((path) => `${name} imports ${path}`),
  )
  expect(strays).toEqual([])
})

test('no file is longer than 400 lines', () => {
  const long = readdirSync(SOURCES).filter((name) => readFileSync(join(SOURCES, name), 'utf8').split('\n').length > 400)
  expect(long).toEqual([])
})
