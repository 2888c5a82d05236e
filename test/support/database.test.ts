import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { createTestDatabase } from './database.ts'
import { postgresVersions } from './postgres-versions.ts'

describe.each(postgresVersions)('a test database on Postgres %s', (server) => {
  it('is migrated and private', async () => {
    const [one, two] = await Promise.all([createTestDatabase({ server }), createTestDatabase({ server })])
    await one.query('CREATE TABLE mine ()')
    expect(await two.query(`SELECT to_regclass('holdfast.mine') AS mine`)).toEqual([{ mine: null }])
    expect(await two.query('SELECT count(*) > 0 AS migrated FROM schema_migrations')).toEqual([{ migrated: true }])
    await Promise.all([one.drop(), two.drop()])
  })

  it('is the version it is said to be', async () => {
    const database = await createTestDatabase({ server, migrated: false })
    const [row] = await database.query('SHOW server_version')
    expect(String(row?.server_version)).toMatch(new RegExp(`^${server}\\.`))
    await database.drop()
  })

  it('has a clock that can be shifted, also under statements prepared before', async () => {
    const database = await createTestDatabase({ server })
    const client = await database.pool.connect()
    const shift = async () => {
      const statement = { name: 'shift', text: 'SELECT clock() - statement_timestamp() AS shift' }
      return (await client.query(statement)).rows[0].shift.toPostgres()
    }
    expect(await shift()).toBe('0')
    await database.shiftClock('1 hour')
    expect(await shift()).toBe('1 hours')
    await database.shiftClock('-5 seconds')
    expect(await shift()).toBe('-5 seconds')
    client.release()
    await database.drop()
  })

  it('can be dropped while others are connected', async () => {
    const database = await createTestDatabase({ server })
    const bystander = new pg.Client({ connectionString: database.url })
    const ended = new Promise((resolve) => bystander.on('error', resolve))
    await bystander.connect()
    await database.drop()
    expect(await ended).toMatchObject({ code: '57P01' })
  })
})
