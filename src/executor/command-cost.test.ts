import { spawnSync } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { readCost } from './command-cost.ts'

async function readOf(make: (path: string) => unknown): Promise<[number | null, string[]]> {
  const folder = await tempFolder()
  onTestFinished(folder.remove)
  const path = join(folder.path, 'cost.txt')
  await make(path)
  const problems: string[] = []
  return [await readCost(path, (message) => problems.push(message)), problems]
}

test.each([
  ['the newest line', '1\n2.25\n', 2.25],
  ['also one without an end, with six decimals', '1\n0.12345678', 0.123457],
  ['nothing, where there is nothing but blanks', '\n \n', null],
  ['the end of a long file', `${'1\n'.repeat(100_000)}7\n\n`, 7],
])('what it cost is %s', async (_what, text, amount) => {
  expect(await readOf((path) => writeFile(path, text))).toEqual([amount, []])
})

test('a program that says nothing has said nothing', async () => {
  expect(await readOf(() => {})).toEqual([null, []])
})

test.each(['-1', 'NaN', 'Infinity', 'much', '1e12', '"1"', '1,5'])('%s is left out with a complaint', async (text) => {
  const complaint = expect.stringMatching(/^cost left out: .* must be a number from 0/)
  expect(await readOf((path) => writeFile(path, text))).toEqual([null, [complaint]])
})

test.each([
  ['pipe', (path: string) => spawnSync('mkfifo', [path])],
  ['link', (path: string) => symlink('/etc/hostname', path)],
])('a %s in its place is not read', async (_what, make) => {
  expect(await readOf(make)).toEqual([null, [expect.stringMatching(/^cost left out/)]])
})
