/**
 * The migrations as files: `NNNN_name.sql`, applied in the order of their numbers and never changed afterwards.
 *
 * The first line says whether programs that do not know the migration may go on using the database:
 * `-- breaking: yes — reason` or `-- breaking: no — reason`.
 */

import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/
const FIRST_LINE = /^-- breaking: (yes|no) — \S/

export type Migration = { name: string; sql: string; sha256: string; breaking: boolean }

export const MIGRATIONS_FOLDER = new URL('./migrations/', import.meta.url)

export async function readMigrations(folder: URL | string = MIGRATIONS_FOLDER): Promise<Migration[]> {
  const path = typeof folder === 'string' ? folder : fileURLToPath(folder)
  const fileNames = (await readdir(path)).filter((name) => name.endsWith('.sql')).sort()
  const numbers = new Map<string, string>()
  for (const fileName of fileNames) {
    const number = FILE_NAME.exec(fileName)?.[1]
    if (!number) throw new Error(`The migration ${fileName} must be named like 0001_what_it_does.sql.`)
    const twin = numbers.get(number)
    if (twin) throw new Error(`The migrations ${twin} and ${fileName} have the same number.`)
    numbers.set(number, fileName)
  }
  return Promise.all(fileNames.map((fileName) => readMigration(path, fileName)))
}

async function readMigration(path: string, fileName: string): Promise<Migration> {
  // A checkout with other line ends is the same migration.
  const sql = (await readFile(join(path, fileName), 'utf8')).replaceAll('\r\n', '\n')
  const breaking = FIRST_LINE.exec(sql)?.[1]
  if (!breaking) {
    throw new Error(`The first line of ${fileName} must be "-- breaking: yes — reason" or "-- breaking: no — reason".`)
  }
  const sha256 = createHash('sha256').update(sql).digest('hex')
  return { name: fileName.slice(0, -'.sql'.length), sql, sha256, breaking: breaking === 'yes' }
}
