import { execFile } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { tempFolder } from '../../../test/support/temp-folder.ts'

const HOLDFAST = resolve(import.meta.dirname, '../../../bin/holdfast.js')
const temporary = await tempFolder()
afterAll(() => temporary.remove())
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(temporary.path, 'case-'))
})

type Ended = { stdout: string; stderr: string; code?: number }

async function check(...args: string[]): Promise<Ended> {
  const call = promisify(execFile)(process.execPath, [HOLDFAST, 'models', 'check', ...args], { cwd: folder })
  return call.catch((error: Ended) => error)
}

const write = (text: string) => writeFileSync(join(folder, 'holdfast.yaml'), text)
const GOOD = 'models:\n  - {name: a, parameters: {type: object}, command: [b], secrets: {KEY: canary-path}}\n'

test('the models of a good file are printed', async () => {
  write(GOOD)
  const { stdout, stderr, code } = await check()
  expect([stdout, stderr, code]).toEqual(['a@1  command  queue default\n', '', undefined])
})

test('problems are printed with file, line and column, and the program ends with 1', async () => {
  write('models:\n  - {name: a, parameters: {type: object}, comand: [b]}\n')
  const { stdout, stderr, code } = await check('holdfast.yaml')
  expect([stdout, code]).toEqual(['', 1])
  expect(stderr).toContain('holdfast.yaml:2:43: /models/0/comand: there is no key "comand" here')
})

test('JSON has models and problems, and nothing that is private to a worker', async () => {
  write(GOOD)
  const { stdout, code } = await check('--json', 'holdfast.yaml', 'missing.yaml')
  expect(JSON.parse(stdout)).toMatchObject([
    { ok: true, models: [{ name: 'a', executor: 'command' }], problems: [] },
    { ok: false, models: [], problems: [{ line: 1, detail: expect.stringContaining('cannot be read') }] },
  ])
  expect([stdout.includes('canary'), code]).toEqual([false, 1])
})
