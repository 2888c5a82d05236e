import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { until } from '../../test/support/until.ts'
import { MigrationRefused, migrate, pendingMigrations } from './migrate.ts'

let folder: string
let removeFolder: () => Promise<void>
let database: TestDatabase

function write(name: string, sql: string, breaking: 'yes' | 'no' = 'yes'): Promise<void> {
  return writeFile(join(folder, `${name}.sql`), `-- breaking: ${breaking} — a test\n${sql}\n`)
}

async function setUp(server: '18' | '14'): Promise<void> {
  const temp = await tempFolder()
  folder = temp.path
  removeFolder = temp.remove
  database = await createTestDatabase({ server, migrated: false })
  await write('0001_one', 'CREATE TABLE one (n integer)')
  await write('0002_two', 'CREATE TABLE two (n integer)')
}

afterEach(async () => {
  await database.drop()
  await removeFolder()
})

describe.each(postgresVersions)('migrate on Postgres %s', (server) => {
  beforeEach(() => setUp(server))

  it('applies what is missing in order, once, in the schema holdfast', async () => {
    const told: string[] = []
    const first = await migrate(database.pool, { folder, onApply: (name) => told.push(name) })
    expect(first).toEqual({ applied: ['0001_one', '0002_two'], already: [] })
    expect(told).toEqual(first.applied)
    expect(await migrate(database.pool, { folder })).toEqual({ applied: [], already: ['0001_one', '0002_two'] })
    expect(await database.query('SELECT count(*) AS n FROM holdfast.two')).toEqual([{ n: 0 }])
  })

  it('two migrators at once: one does everything, the other finds it done', async () => {
    const outcomes = await Promise.all([1, 2].map(() => migrate(database.pool, { folder })))
    expect(outcomes.map(({ applied }) => applied.length).sort()).toEqual([0, 2])
  })
})

describe('migrate', () => {
  beforeEach(() => setUp('18'))

  it('refuses a file that was changed after it was applied', async () => {
    await migrate(database.pool, { folder })
    await write('0001_one', 'CREATE TABLE one (n bigint)')
    await expect(migrate(database.pool, { folder })).rejects.toThrow(MigrationRefused)
    await expect(pendingMigrations(database.pool, { folder })).rejects.toThrow(/0001_one.*other contents/)
  })

  it('takes other line ends for the same file', async () => {
    await migrate(database.pool, { folder })
    await writeFile(join(folder, '0001_one.sql'), '-- breaking: yes — a test\r\nCREATE TABLE one (n integer)\r\n')
    expect(await pendingMigrations(database.pool, { folder })).toEqual([])
  })

  it('leaves nothing of a migration that fails in the middle, and goes on from there', async () => {
    await write('0002_two', 'CREATE TABLE two (n integer); SELECT 1 / 0')
    await expect(migrate(database.pool, { folder })).rejects.toThrow('0002_two failed: division by zero')
    expect(await database.query(`SELECT to_regclass('holdfast.two') AS two`)).toEqual([{ two: null }])
    expect(await pendingMigrations(database.pool, { folder })).toEqual(['0002_two'])
    await write('0002_two', 'CREATE TABLE two (n integer)')
    expect((await migrate(database.pool, { folder })).applied).toEqual(['0002_two'])
  })

  it('refuses a database that a newer program migrated in a breaking way', async () => {
    await migrate(database.pool, { folder })
    await rm(join(folder, '0002_two.sql'))
    await expect(migrate(database.pool, { folder })).rejects.toThrow(/newer Holdfast.*0002_two/)
  })

  it('works with a database that a newer program migrated in a harmless way', async () => {
    await write('0002_two', 'CREATE TABLE two (n integer)', 'no')
    await migrate(database.pool, { folder })
    await rm(join(folder, '0002_two.sql'))
    expect(await migrate(database.pool, { folder })).toEqual({ applied: [], already: ['0001_one'] })
  })

  it('refuses a migration numbered before one that is applied', async () => {
    await rm(join(folder, '0001_one.sql'))
    await migrate(database.pool, { folder })
    await write('0001_late', 'SELECT 1')
    await expect(migrate(database.pool, { folder })).rejects.toThrow(/0001_late comes before 0002_two/)
  })

  it('lets others pass while a table lock keeps it waiting, and then finishes', async () => {
    await migrate(database.pool, { folder })
    await write('0003_alter', 'ALTER TABLE one ADD COLUMN m integer')
    const holder = new pg.Client({ connectionString: database.url })
    await holder.connect()
    await holder.query('BEGIN; LOCK TABLE holdfast.one IN ACCESS SHARE MODE')
    const migrating = migrate(database.pool, { folder })
    const waiting = `SELECT FROM pg_locks WHERE NOT granted AND relation = 'holdfast.one'::regclass`
    await until(async () => (await database.query(waiting)).length > 0, { what: 'the migration waits for the lock' })
    await database.query('SELECT FROM holdfast.one')
    expect(await pendingMigrations(database.pool, { folder })).toEqual(['0003_alter'])
    await holder.query('COMMIT')
    await holder.end()
    expect((await migrating).applied).toEqual(['0003_alter'])
  })

  it.each([
    ['no_number.sql', '-- breaking: no — x\n', /must be named like/],
    ['0002_twin.sql', '-- breaking: no — x\n', /same number/],
    ['0003_silent.sql', 'SELECT 1\n', /first line of 0003_silent\.sql/],
  ])('refuses the file %s', async (name, text, complaint) => {
    await writeFile(join(folder, name), text)
    await expect(migrate(database.pool, { folder })).rejects.toThrow(complaint)
  })
})
