/** Folders as archives: read back by another program, and the same bytes for the same files. */

import { execFileSync } from 'node:child_process'
import { chmod, mkdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { FolderTooLarge, zipFolder } from './folder-zip.ts'

async function folder(): Promise<string> {
  const { path, remove } = await tempFolder()
  onTestFinished(remove)
  await mkdir(join(path, 'in', '__pycache__'), { recursive: true })
  await writeFile(join(path, 'in', 'é.txt'), 'hello '.repeat(1_000))
  await writeFile(join(path, 'run.sh'), '#!/bin/sh\n')
  await chmod(join(path, 'run.sh'), 0o755)
  await writeFile(join(path, 'empty'), '')
  await writeFile(join(path, 'in', '__pycache__', 'x.pyc'), 'cache')
  await symlink('/etc/passwd', join(path, 'link'))
  return path
}

const READER = `
import io, json, sys, zipfile
archive = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))
assert archive.testzip() is None
print(json.dumps({one.filename: [one.file_size, oct(one.external_attr >> 16 & 0o777)] for one in archive.infolist()}))`

it('holds the files with their rights, and neither links nor caches', async () => {
  const archive = await zipFolder(await folder(), 1_000_000)
  const read = JSON.parse(execFileSync('python3', ['-c', READER], { input: archive, encoding: 'utf8' }))
  expect(read).toEqual({
    empty: [0, '0o644'],
    'in/é.txt': [6_000, '0o644'],
    'run.sh': [10, '0o755'],
  })
})

it('is the same for the same files, whenever they were written', async () => {
  const path = await folder()
  const before = await zipFolder(path, 1_000_000)
  await utimes(join(path, 'empty'), 1, 1)
  expect((await zipFolder(path, 1_000_000)).equals(before)).toBe(true)
})

it('refuses a folder that is too large', async () => {
  await expect(zipFolder(await folder(), 100)).rejects.toThrow(FolderTooLarge)
})
