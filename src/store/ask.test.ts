import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { ask } from './ask.ts'
import { openPool } from './connect.ts'

const TELL = {
  name: 'tell',
  text: `SELECT n, NULL, ('{"a":' || n || '}')::jsonb, n > 1 FROM generate_series(1, $1::int) AS n`,
}
const TWO = [
  ['1', null, '{"a": 1}', 'f'],
  ['2', null, '{"a": 2}', 't'],
]

describe.each(postgresVersions)('a statement whose columns are known, on Postgres %s', (server) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase({ server })
  })
  afterAll(() => database.drop())

  const withPool = async (pipeline: boolean, work: (pool: pg.Pool) => Promise<void>) => {
    const pool = openPool({ url: database.url, name: 'ask', max: 1, pipeline })
    await work(pool).finally(() => pool.end())
  }

  describe.each([false, true])('in a pipeline: %s', (pipeline) => {
    it('answers rows of texts, from a pool and from a connection', () =>
      withPool(pipeline, async (pool) => {
        expect(await ask(pool, TELL, [2])).toEqual(TWO)
        const client = await pool.connect()
        expect(await ask(client, TELL, [2])).toEqual(TWO)
        expect(await ask(client, { text: TELL.text }, [0])).toEqual([])
        client.release()
      }))

    it('is prepared once, and other queries of the connection are none the worse', () =>
      withPool(pipeline, async (pool) => {
        const client = await pool.connect()
        expect(await ask(client, TELL, [2])).toEqual(TWO)
        expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
        expect(await ask(client, TELL, [2])).toEqual(TWO)
        const { rows } = await client.query(
          `SELECT count(*)::int AS count FROM pg_prepared_statements WHERE name = 'tell'`,
        )
        expect(rows).toEqual([{ count: 1 }])
        client.release()
      }))

    it('tells what Postgres refuses, and the connection goes on', () =>
      withPool(pipeline, async (pool) => {
        await expect(ask(pool, { name: 'halve', text: 'SELECT 1 / $1::int' }, [0])).rejects.toThrow(pg.DatabaseError)
        await expect(ask(pool, { name: 'halve', text: 'SELECT 1 / $1::int' }, ['x'])).rejects.toMatchObject({
          code: '22P02',
        })
        expect(await ask(pool, { name: 'halve', text: 'SELECT 1 / $1::int' }, [1])).toEqual([['1']])
      }))

    it('a connection that breaks meanwhile is told of', () =>
      withPool(pipeline, async (pool) => {
        await expect(
          ask(pool, { text: 'SELECT pg_terminate_backend(pg_backend_pid()), $1::int' }, [1]),
        ).rejects.toThrow()
        expect(await ask(pool, TELL, [2])).toEqual(TWO)
      }))
  })

  it('many in one pipeline keep their answers apart', () =>
    withPool(true, async (pool) => {
      const client = await pool.connect()
      const answers = await Promise.all([
        ask(client, TELL, [2]),
        client.query('SELECT 1 AS one'),
        ask(client, TELL, [1]),
      ])
      expect([answers[0], answers[1].rows, answers[2]]).toEqual([TWO, [{ one: 1 }], TWO.slice(0, 1)])
      client.release()
    }))
})
