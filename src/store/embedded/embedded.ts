/**
 * A real Postgres server in a data folder, for a service that starts with nothing installed beforehand.
 *
 * One process starts and owns the server; others on the same folder join it through `findRunningEmbedded`. The server listens
 * on loopback only, with a generated password, and ends with its owner even when that is killed (see launcher.ts). A start after
 * any kind of death continues on the same files: Postgres' own lock file decides who may, and a predecessor that is still
 * going down is waited for. Start it from the main thread.
 */

import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { findBinaries } from './binaries.ts'
import { type Cluster, ensureCluster, USER } from './cluster.ts'
import { answers, readConnectionFile, writeConnectionFile } from './connection-file.ts'
import { freePort } from './free-port.ts'
import { chooseLauncher } from './launcher.ts'
import { disownReusedPid, lockHolder } from './lock-file.ts'
import { isAlive } from './process-state.ts'
import { runServer, type Server, StartRefused } from './server.ts'

const DATABASE = 'holdfast'
const WAIT_FOR_PREDECESSOR_MS = 10_000
const PORTS_TRIED_MAX = 20

export type EmbeddedOptions = {
  dataDir: string
  log: (line: string) => void
  /** Postgres settings on top of those in settings.ts. */
  settings?: Record<string, string>
  /** A folder with `bin/` and `lib/`, for another version than the packaged one. */
  binaries?: string
}

export type EmbeddedPostgres = {
  url: string
  pid: number
  port: number
  /** Fast shutdown; resolves when the server is gone. */
  stop(): Promise<void>
  /** Resolves when the server is gone, for whatever reason. */
  exited: Promise<void>
}

export class EmbeddedInUse extends Error {
  constructor(dataDir: string, holder: string, options?: ErrorOptions) {
    super(
      `The embedded database in ${dataDir} is already run by ${holder}. Stop that one first, choose another folder with ` +
        'HOLDFAST_DATA_DIR, or join it with a role of its own (`holdfast worker`, `holdfast api`).',
      options,
    )
    this.name = 'EmbeddedInUse'
  }
}

export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dataDir, log, settings = {} } = options
  await makeWay(dataDir)
  const binaries = await findBinaries(options.binaries)
  const launcher = await chooseLauncher(binaries.postgres)
  const cluster = await ensureCluster({ dataDir, binaries, launcher, durable: settings.fsync !== 'off', log })
  const start = (port: number) =>
    runServer({ launcher, program: binaries.postgres, dataFolder: cluster.dataFolder, port, settings, log })
  const server = await startPatiently(dataDir, cluster, start)
  try {
    const url = `postgres://${USER}:${cluster.password}@127.0.0.1:${server.port}/${DATABASE}`
    await ensureDatabase(url)
    await writeConnectionFile(dataDir, { url, port: server.port, pid: server.pid, ownerPid: process.pid })
    return { url, ...server }
  } catch (error) {
    await server.stop()
    throw error
  }
}

async function startPatiently(
  dataDir: string,
  cluster: Cluster,
  start: (port: number) => Promise<Server>,
): Promise<Server> {
  const deadline = performance.now() + WAIT_FOR_PREDECESSOR_MS
  let wantedPort = (await readConnectionFile(dataDir))?.port
  for (let portsTried = 1; ; ) {
    try {
      return await start(await freePort(wantedPort))
    } catch (error) {
      if (!(error instanceof StartRefused)) throw error
      if (error.reason === 'port taken') {
        wantedPort = undefined
        if (portsTried++ >= PORTS_TRIED_MAX) throw error
      } else {
        await makeWay(dataDir)
        await disownReusedPid(cluster.dataFolder)
        if (performance.now() > deadline) {
          throw new EmbeddedInUse(dataDir, `the Postgres server ${await lockHolder(cluster.dataFolder)}`, {
            cause: error,
          })
        }
        await delay(100)
      }
    }
  }
}

/** Refuses when a living process owns a running server here; ends a server whose owner is gone. */
async function makeWay(dataDir: string): Promise<void> {
  const connection = await readConnectionFile(dataDir)
  if (!connection || !isAlive(connection.pid) || !(await answers(connection.url))) return
  if (isAlive(connection.ownerPid)) throw new EmbeddedInUse(dataDir, `process ${connection.ownerPid}`)
  // The lock file must name the same server: a rival may have started its own since, and not yet written who it is.
  if ((await lockHolder(`${dataDir}/postgres/data`)) === connection.pid) process.kill(connection.pid, 'SIGINT')
}

/** Made on first use, and again if the first use was cut short in between. */
async function ensureDatabase(url: string): Promise<void> {
  const maintenance = new URL(url)
  maintenance.pathname = '/postgres'
  const client = new pg.Client({ connectionString: maintenance.href })
  await client.connect()
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE])
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`)
  } finally {
    await client.end()
  }
}
