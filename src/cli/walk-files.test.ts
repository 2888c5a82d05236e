import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { allOf } from '../../test/support/all-of.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { walkFiles } from './walk-files.ts'

test('a folder gives what is in it at any depth, but nothing hidden and no links; a file that is named is taken as it is', async () => {
  const folder = await tempFolder()
  onTestFinished(() => folder.remove())
  const at = (path: string) => join(folder.path, path)
  await mkdir(at('in/deep/er'), { recursive: true })
  await mkdir(at('in/.git'))
  for (const path of ['in/a.txt', 'in/deep/er/b.pdf', 'in/.hidden', 'in/.git/config', '.named']) {
    await writeFile(at(path), 'x')
  }
  await symlink(at('in'), at('in/loop'))
  const found = await allOf(walkFiles([at('in'), at('.named')]))
  expect(found.sort()).toEqual(['.named', 'in/a.txt', 'in/deep/er/b.pdf'].map(at))
})

test('a path that is not there is told by its name', async () => {
  await expect(allOf(walkFiles(['/no/such/file.pdf']))).rejects.toThrow('/no/such/file.pdf cannot be read: ENOENT')
})
