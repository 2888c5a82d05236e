/**
 * `connection.json`: how another process of the same user finds the running embedded server of a data folder.
 *
 * The file outlives the server, so that the next start can take the same port; whoever reads it asks the server itself
 * whether it is there. A login with the generated password proves that it is the server of this very folder.
 */

import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { isAlive } from './process-state.ts'

/** `pid` is the server's, `ownerPid` that of the process that started it and ends it. */
export type ConnectionFile = { url: string; port: number; pid: number; ownerPid: number }

export function connectionFileOf(dataDir: string): string {
  return join(dataDir, 'postgres', 'connection.json')
}

export async function writeConnectionFile(dataDir: string, connection: ConnectionFile): Promise<void> {
  const path = connectionFileOf(dataDir)
  const draft = `${path}.${process.pid}`
  await writeFile(draft, `${JSON.stringify(connection, null, 2)}\n`, { mode: 0o600 })
  await rename(draft, path)
}

export async function readConnectionFile(dataDir: string): Promise<ConnectionFile | null> {
  try {
    return JSON.parse(await readFile(connectionFileOf(dataDir), 'utf8'))
  } catch {
    return null
  }
}

/** The server another process runs on this data folder, or null. */
export async function findRunningEmbedded(dataDir: string): Promise<{ url: string } | null> {
  const connection = await readConnectionFile(dataDir)
  if (!connection || !isAlive(connection.pid) || !(await answers(connection.url))) return null
  return { url: connection.url }
}

export async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
