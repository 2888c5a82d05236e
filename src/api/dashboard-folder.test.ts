import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { builtDashboard, writeBuild } from '../../test/support/dashboard.ts'
import { recordingLog } from '../../test/support/recording-log.ts'
import { createDashboardFolder } from './dashboard-folder.ts'

async function openFolder(files?: Record<string, string>) {
  const dir = await builtDashboard(files)
  const { log, lines } = recordingLog()
  return { dir, lines, folder: createDashboardFolder({ dir, log, lookMs: 0 }) }
}

test('files are found by their path, and have a type', async () => {
  const { folder } = await openFolder({ 'assets/a.js': '1', 'favicon.svg': '<svg/>', 'assets/b.bin': 'x' })
  expect((await folder.file('assets/a.js'))?.type).toBe('text/javascript; charset=utf-8')
  expect((await folder.file('favicon.svg'))?.type).toBe('image/svg+xml; charset=utf-8')
  expect((await folder.file('assets/b.bin'))?.type).toBe('application/octet-stream')
  expect(await folder.page()).toContain('<base href="./" />')
})

test('nothing else is found', async () => {
  const { dir, folder } = await openFolder({ 'assets/a.js': '1', '.secret': 'x' })
  await symlink('/etc/passwd', join(dir, 'assets', 'link.txt'))
  const paths = [
    'assets/link.txt',
    '.secret',
    '../index.html',
    '/etc/passwd',
    'assets',
    '',
    'index.html',
    'constructor',
  ]
  for (const path of paths) expect(await folder.file(path), path).toBeNull()
})

test('text is compressed once, and each form has a tag of its own', async () => {
  const text = 'let a = 1\n'.repeat(500)
  const { folder } = await openFolder({ 'assets/a.js': text, 'assets/s.js': '1' })
  const file = (await folder.file('assets/a.js'))!
  expect(gunzipSync(await file.bytes('gzip')).toString()).toBe(text)
  expect(brotliDecompressSync(await file.bytes('br')).toString()).toBe(text)
  expect(await file.bytes('br')).toBe(await file.bytes('br'))
  expect(new Set(file.encodings.map(file.etag)).size).toBe(3)
  expect(file.etag('identity')).toMatch(/^"[\w-]{22}"$/)
  expect((await folder.file('assets/s.js'))?.encodings).toEqual(['identity'])
})

test('a build that comes later is found, and the files of the one before stay', async () => {
  const { dir, folder } = await openFolder({})
  await writeBuild(dir, { 'assets/old.js': 'old' })
  expect(await folder.file('assets/old.js')).not.toBeNull()
  await writeBuild(dir, { 'assets/new.js': 'newer' })
  expect(await folder.file('assets/new.js')).not.toBeNull()
  expect(await folder.file('assets/old.js')).not.toBeNull()
  await writeBuild(dir, { 'assets/newest.js': 'newest' })
  expect(await folder.file('assets/newest.js')).not.toBeNull()
  expect(await folder.file('assets/old.js')).toBeNull()
})

test('a build that goes away is still served', async () => {
  const { dir, folder } = await openFolder({ 'assets/a.js': '1' })
  const page = await folder.page()
  await writeBuild(dir, null)
  expect(await folder.page()).toBe(page)
  expect(await folder.file('assets/a.js')).not.toBeNull()
})

test('without a build there is nothing, and nobody complains', async () => {
  const { dir, folder, lines } = await openFolder()
  await writeBuild(dir, null)
  expect(await folder.page()).toBeNull()
  expect(await folder.file('assets/a.js')).toBeNull()
  expect(lines).toEqual([])
})

test('a folder that is none of ours is not served, which is said once', async () => {
  const { dir, folder, lines } = await openFolder({ 'assets/a.js': '1' })
  await writeFile(join(dir, 'index.html'), '<html>something else</html>')
  expect(await folder.page()).toBeNull()
  expect(await folder.page()).toBeNull()
  expect(lines.map(({ msg }) => msg)).toEqual(['the folder of the dashboard cannot be used'])
})
