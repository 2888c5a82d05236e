/** The embedded server on real files: each test starts anew on one shared folder, as restarts of a service do. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { tempFolder } from '../../../test/support/temp-folder.ts'
import { until } from '../../../test/support/until.ts'
import { connectionFileOf, findRunningEmbedded } from './connection-file.ts'
import { EmbeddedInUse, type EmbeddedPostgres, startEmbeddedPostgres } from './embedded.ts'
import { isAlive } from './process-state.ts'

const STARTER = fileURLToPath(new URL('../../../test/support/start-embedded.ts', import.meta.url))
const isRoot = process.getuid?.() === 0
const isLinux = process.platform === 'linux'

let folder: Awaited<ReturnType<typeof tempFolder>>
let dataDir: string
const running: EmbeddedPostgres[] = []

beforeAll(async () => {
  folder = await tempFolder()
  dataDir = join(folder.path, 'data')
})
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()))
})
afterAll(() => folder.remove())

async function start(): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, log: () => {} })
  running.push(server)
  return server
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Starts a server owned by another process, and gives that process and what it printed. */
async function startElsewhere(inFolder: string, prefix: string[] = []) {
  const [command = process.execPath, ...args] = [...prefix, process.execPath, STARTER, inFolder]
  const owner: ChildProcess = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let errors = ''
  owner.stderr?.on('data', (chunk) => {
    errors += chunk
  })
  if (!owner.stdout) throw new Error('no stdout')
  const lines = createInterface({ input: owner.stdout })
  const line = await Promise.race([
    once(lines, 'line').then(([text]) => text as string),
    once(owner, 'exit').then(() => Promise.reject(new Error(`the starter ended: ${errors}`))),
  ])
  return { owner, ...(JSON.parse(line) as { url: string; pid: number }) }
}

describe('a server of our own', () => {
  it('answers in its database, as the user holdfast, durably', async () => {
    const { url } = await start()
    const [row] = await query(
      url,
      `SELECT current_database() AS database, current_user AS who, current_setting('fsync') AS fsync,
              current_setting('synchronous_commit') AS sync, current_setting('server_encoding') AS encoding`,
    )
    expect(row).toEqual({ database: 'holdfast', who: 'holdfast', fsync: 'on', sync: 'on', encoding: 'UTF8' })
  })

  it('refuses a wrong password', async () => {
    const wrong = new URL((await start()).url)
    wrong.password = 'wrong'
    await expect(query(wrong.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' })
  })

  it('listens on loopback and nowhere else', async () => {
    const { url, port } = await start()
    expect(await query(url, 'SHOW unix_socket_directories')).toEqual([{ unix_socket_directories: '' }])
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((address) => address && !address.internal && address.family === 'IPv4')
    const socket = connect({ port, host: outside?.address ?? '127.0.0.2' })
    await expect(once(socket, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  it('keeps its secrets readable for its owner only', async () => {
    await start()
    const paths = [connectionFileOf(dataDir), join(dataDir, 'postgres', 'password')]
    const modes = await Promise.all(paths.map(async (path) => (await stat(path)).mode & 0o777))
    expect(modes).toEqual([0o600, 0o600])
  })

  it('has its data, address and password again after a stop and a second start', async () => {
    const first = await start()
    await query(first.url, 'CREATE TABLE kept_after_stop AS SELECT 1 AS n')
    await first.stop()
    const second = await start()
    expect(second.url).toBe(first.url)
    expect(await query(second.url, 'SELECT * FROM kept_after_stop')).toEqual([{ n: 1 }])
  })

  it('tells when the server is killed, and goes on after it', async () => {
    const first = await start()
    await query(first.url, 'CREATE TABLE kept_after_kill AS SELECT 1 AS n')
    process.kill(first.pid, 'SIGKILL')
    await first.exited
    const second = await start()
    expect(await query(second.url, 'SELECT * FROM kept_after_kill')).toEqual([{ n: 1 }])
  })

  it.runIf(isLinux)(
    'starts although the lock file of a dead server names a process that is something else',
    async () => {
      const first = await start()
      const lockFile = join(dataDir, 'postgres', 'data', 'postmaster.pid')
      const text = await readFile(lockFile, 'utf8')
      process.kill(first.pid, 'SIGKILL')
      await first.exited
      await writeFile(lockFile, text.replace(/^\d+/, String(process.ppid)))
      expect(await query((await start()).url, 'SELECT 1 AS n')).toEqual([{ n: 1 }])
    },
  )

  it('refuses files of another Postgres version with a clear word', async () => {
    await (await start()).stop()
    const versionFile = join(dataDir, 'postgres', 'data', 'PG_VERSION')
    const version = await readFile(versionFile, 'utf8')
    await writeFile(versionFile, '13\n')
    await expect(start()).rejects.toThrow(/made by Postgres 13, and this is Postgres \d+/)
    await writeFile(versionFile, version)
  })
})

describe('a server of another process', () => {
  it('is found and can be joined while it runs, and not afterwards', async () => {
    const { owner, url, pid } = await startElsewhere(dataDir)
    expect(await findRunningEmbedded(dataDir)).toEqual({ url })
    owner.kill('SIGKILL')
    await until(() => !isAlive(pid), { what: 'the server is gone' })
    expect(await findRunningEmbedded(dataDir)).toBeNull()
  })

  it('is not started twice: the second start names the owner and the cure', async () => {
    const { owner, url } = await startElsewhere(dataDir)
    const refusal = await start().catch((error) => error)
    expect(refusal).toBeInstanceOf(EmbeddedInUse)
    expect(refusal.message).toMatch(new RegExp(`process ${owner.pid}\\b.*HOLDFAST_DATA_DIR`))
    expect(await query(url, 'SELECT 1 AS n')).toEqual([{ n: 1 }])
    owner.kill('SIGKILL')
    await once(owner, 'exit')
  })

  it('of two that start at once on a fresh folder one wins and the other is told', async () => {
    const fresh = join(folder.path, 'fresh')
    const outcomes = await Promise.allSettled(
      [1, 2].map(() => startEmbeddedPostgres({ dataDir: fresh, log: () => {} })),
    )
    const won = outcomes.filter((outcome) => outcome.status === 'fulfilled').map((outcome) => outcome.value)
    running.push(...won)
    const lost = outcomes.filter((outcome) => outcome.status === 'rejected').map((outcome) => outcome.reason)
    expect(lost).toEqual([expect.any(EmbeddedInUse)])
    expect(await query(won[0]?.url ?? '', 'SELECT 1 AS n')).toEqual([{ n: 1 }])
  })

  it.runIf(isLinux)('dies with its owner, and its files go on', async () => {
    const { owner, url, pid } = await startElsewhere(dataDir)
    await query(url, 'CREATE TABLE kept_after_owner AS SELECT 1 AS n')
    const ended = once(owner, 'exit')
    owner.kill('SIGKILL')
    await ended
    const second = await start()
    expect(isAlive(pid)).toBe(false)
    expect(await query(second.url, 'SELECT * FROM kept_after_owner')).toEqual([{ n: 1 }])
  })

  it.runIf(isLinux)('and server killed together leave files that go on', async () => {
    const { owner, url, pid } = await startElsewhere(dataDir)
    await query(url, 'CREATE TABLE kept_after_all AS SELECT 1 AS n')
    process.kill(pid, 'SIGKILL')
    owner.kill('SIGKILL')
    expect(await query((await start()).url, 'SELECT * FROM kept_after_all')).toEqual([{ n: 1 }])
  })

  it('runs as an ordinary user too', async ({ skip }) => {
    skip(!isRoot || !isLinux, 'only root can become another user; the other tests cover an ordinary user')
    const theirs = join(folder.path, 'ordinary')
    await mkdir(theirs)
    await chown(theirs, 65534, 65534)
    await chown(folder.path, 65534, 65534)
    const become = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
    const { owner, url, pid } = await startElsewhere(theirs, become)
    expect(await query(url, 'SELECT 1 AS n')).toEqual([{ n: 1 }])
    expect((await stat(join(theirs, 'postgres', 'data'))).uid).toBe(65534)
    owner.kill('SIGKILL')
    await until(() => !isAlive(pid), { what: 'the server is gone' })
  })
})
