/**
 * The database files in `<data folder>/postgres`: `data` (Postgres' own), `password` and `connection.json`.
 *
 * The folder is made beside its place and renamed, so that it exists whole or not at all, whatever dies and whoever races.
 */

import { randomBytes } from 'node:crypto'
import { chown, lchown, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Binaries } from './binaries.ts'
import { type Launcher, runToEnd } from './launcher.ts'
import { isAlive } from './process-state.ts'

export const USER = 'holdfast'

export type Cluster = { dataFolder: string; password: string }

export type ClusterOptions = {
  dataDir: string
  binaries: Binaries
  launcher: Launcher
  /** false only where the files may be lost with the machine, as in tests. */
  durable: boolean
  log: (line: string) => void
}

export async function ensureCluster(options: ClusterOptions): Promise<Cluster> {
  const home = join(options.dataDir, 'postgres')
  const dataFolder = join(home, 'data')
  if ((await versionOf(dataFolder)) === null) await createCluster(home, options)
  const version = await versionOf(dataFolder)
  if (version === null) {
    throw new Error(`${home} exists but holds no database. Move it away, or choose another data folder.`)
  }
  if (version !== options.launcher.major) {
    throw new Error(
      `The database in ${home} was made by Postgres ${version}, and this is Postgres ${options.launcher.major}. Keep using the ` +
        'Holdfast release that made it, or move the data with pg_dump and pg_restore into a new data folder.',
    )
  }
  await ensureOwner(home, options.launcher)
  return { dataFolder, password: (await readFile(join(home, 'password'), 'utf8')).trim() }
}

async function versionOf(dataFolder: string): Promise<number | null> {
  const text = await readFile(join(dataFolder, 'PG_VERSION'), 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  return text === null ? null : Number.parseInt(text, 10)
}

async function createCluster(home: string, options: ClusterOptions): Promise<void> {
  await removeAbandoned(options.dataDir)
  const draft = join(options.dataDir, `postgres.new-${process.pid}-${randomBytes(4).toString('hex')}`)
  await mkdir(options.dataDir, { recursive: true })
  await mkdir(draft, { mode: 0o700 })
  try {
    options.log(`creating a database in ${home}`)
    await writeDurably(join(draft, 'password'), `${randomBytes(24).toString('base64url')}\n`)
    await ensureOwner(draft, options.launcher)
    await initdb(draft, options)
    await rename(draft, home).catch((error) => {
      // Another process made the database first; the caller goes on with that one.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
    await syncFolder(options.dataDir)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

async function initdb(draft: string, { binaries, launcher, durable }: ClusterOptions): Promise<void> {
  const args = ['-D', join(draft, 'data'), '-U', USER, '--locale=C', '--encoding=UTF8', '--auth=scram-sha-256']
  args.push(`--pwfile=${join(draft, 'password')}`, '--no-instructions')
  if (!durable) args.push('--no-sync')
  const { code, output } = await runToEnd(launcher, binaries.initdb, args)
  if (code !== 0) throw new Error(`initdb failed with exit code ${code}:\n${output.trim()}`)
}

/** A process killed during initdb leaves its draft behind. */
async function removeAbandoned(dataDir: string): Promise<void> {
  const names = await readdir(dataDir).catch(() => [])
  for (const name of names) {
    const pid = /^postgres\.new-(\d+)-/.exec(name)?.[1]
    if (pid && !isAlive(Number(pid))) await rm(join(dataDir, name), { recursive: true, force: true })
  }
}

/** Root may have run the server as itself before and as nobody now, or the other way round; Postgres insists on its own files. */
async function ensureOwner(folder: string, launcher: Launcher): Promise<void> {
  if (process.getuid?.() !== 0) return
  const uid = launcher.uid ?? 0
  const gid = launcher.gid ?? 0
  if ((await stat(folder)).uid === uid && (await ownerOf(join(folder, 'data'))) === uid) return
  for (const entry of await readdir(folder, { recursive: true })) await lchown(join(folder, entry), uid, gid)
  await chown(folder, uid, gid)
}

async function ownerOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({ uid }) => uid,
    () => null,
  )
}

async function writeDurably(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600, flush: true })
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
}
