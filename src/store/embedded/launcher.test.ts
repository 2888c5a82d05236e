import { chmod, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempFolder } from '../../../test/support/temp-folder.ts'
import { findBinaries } from './binaries.ts'
import { ensureCluster } from './cluster.ts'
import { chooseLauncher } from './launcher.ts'

const isRoot = process.getuid?.() === 0

it('takes the first way that works', async () => {
  const { postgres } = await findBinaries()
  const launcher = await chooseLauncher(postgres, [
    { prefix: ['false'] },
    { prefix: ['no-such-program'] },
    { prefix: [] },
  ])
  expect(launcher).toEqual({ prefix: [], major: 18 })
})

it('tells what each way answered when none works', async () => {
  const { postgres } = await findBinaries()
  await expect(chooseLauncher(postgres, [{ prefix: ['no-such-program'] }])).rejects.toThrow(
    /set DATABASE_URL instead\.\nno-such-program .*ENOENT/s,
  )
})

it('as root without user namespaces the files belong to nobody, and come back to root with them', async ({ skip }) => {
  skip(!isRoot, 'only root changes owners')
  const binaries = await findBinaries()
  const { path: dataDir, remove } = await tempFolder()
  const owner = async () => (await stat(join(dataDir, 'postgres', 'data', 'base'))).uid
  // The folder itself is private to root; Postgres as nobody must still reach what is inside.
  await chmod(dataDir, 0o711)
  const asNobody = await chooseLauncher(binaries.postgres, [{ prefix: [], uid: 65534, gid: 65534 }])
  await ensureCluster({ dataDir, binaries, launcher: asNobody, durable: false, log: () => {} })
  expect(await owner()).toBe(65534)
  await ensureCluster({ dataDir, binaries, launcher: { prefix: [], major: 18 }, durable: false, log: () => {} })
  expect(await owner()).toBe(0)
  await remove()
})
