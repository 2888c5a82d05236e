import pg from 'pg'
import { expect, it } from 'vitest'
import { tempFolder } from '../../../test/support/temp-folder.ts'
import { migrate, pendingMigrations } from '../migrate.ts'
import { startEmbeddedPostgres } from './embedded.ts'

it('R379: the database starts cleanly, answers SELECT 1, and the migrations apply by themselves, once', async () => {
  const folder = await tempFolder()
  const server = await startEmbeddedPostgres({ dataDir: folder.path, log: () => {}, settings: { fsync: 'off' } })
  const client = new pg.Client({ connectionString: server.url })
  try {
    await client.connect()
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    const { applied } = await migrate(client)
    expect(applied).toContain('0001_runs')
    expect(await migrate(client)).toEqual({ applied: [], already: applied })
    expect(await pendingMigrations(client)).toEqual([])
  } finally {
    await client.end()
    await server.stop()
    await folder.remove()
  }
})
