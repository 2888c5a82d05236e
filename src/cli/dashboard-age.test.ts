import { mkdir, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { mustBuild } from './dashboard-age.ts'

const BUILT_AT = new Date('2026-01-01T12:00:00Z')
const BEFORE = new Date('2026-01-01T11:00:00Z')
const AFTER = new Date('2026-01-01T13:00:00Z')
const FILES = ['src/main.tsx', 'src/parts/badge.tsx', 'public/favicon.svg', 'index.html', 'vite.config.ts']
const SHARED = ['../client/src/index.ts', '../package-lock.json']

/** A dashboard in a checkout, built after everything in it was written. */
async function checkout(): Promise<{ root: string; touch(path: string, at: Date): Promise<void> }> {
  const folder = await tempFolder()
  onTestFinished(folder.remove)
  const root = join(folder.path, 'dashboard')
  for (const path of [...FILES, ...SHARED, 'dist/index.html']) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), '')
  }
  const touch = (path: string, at: Date) => utimes(join(root, path), at, at)
  const folders = ['src', 'src/parts', 'public', '../client/src']
  for (const path of [...FILES, ...SHARED, ...folders]) await touch(path, BEFORE)
  await touch('dist/index.html', BUILT_AT)
  return { root, touch }
}

it('one that is newer than its sources is not built again', async () => {
  expect(await mustBuild((await checkout()).root)).toBe(false)
})

it('one that is missing is built', async () => {
  const { root } = await checkout()
  await rm(join(root, 'dist'), { recursive: true })
  expect(await mustBuild(root)).toBe(true)
})

it.each([...FILES, ...SHARED])('one that is older than %s is built again', async (path) => {
  const { root, touch } = await checkout()
  await touch(path, AFTER)
  expect(await mustBuild(root)).toBe(true)
})

it('one whose source was removed is built again', async () => {
  const { root } = await checkout()
  await rm(join(root, 'src/parts/badge.tsx'))
  expect(await mustBuild(root)).toBe(true)
})

it('a changed test builds nothing', async () => {
  const { root, touch } = await checkout()
  await writeFile(join(root, 'src/parts/badge.test.ts'), '')
  await touch('src/parts', BEFORE)
  expect(await mustBuild(root)).toBe(false)
})

it('without sources there is nothing to build', async () => {
  const { root } = await checkout()
  await rm(join(root, 'dist'), { recursive: true })
  await rm(join(root, 'src'), { recursive: true })
  expect(await mustBuild(root)).toBe(false)
})
