import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { tempFolder } from '../../../test/support/temp-folder.ts'
import { disownReusedPid, lockHolder } from './lock-file.ts'

let folder: Awaited<ReturnType<typeof tempFolder>>
beforeEach(async () => {
  folder = await tempFolder()
})
afterEach(() => folder.remove())

/** This process is alive and is not Postgres. */
const lockFileOf = (pid: number) => `${pid}\n/data\n1\n`

it.runIf(process.platform === 'linux')('a lock file that names some other program is made our own', async () => {
  await writeFile(join(folder.path, 'postmaster.pid'), lockFileOf(process.ppid))
  await disownReusedPid(folder.path)
  expect(await lockHolder(folder.path)).toBe(process.pid)
  expect(await readFile(join(folder.path, 'postmaster.pid'), 'utf8')).toBe(lockFileOf(process.pid))
  expect(await readdir(folder.path)).toEqual(['postmaster.pid'])
})

it('no lock file is nothing to do', async () => {
  await disownReusedPid(folder.path)
  expect(await lockHolder(folder.path)).toBeNull()
})
