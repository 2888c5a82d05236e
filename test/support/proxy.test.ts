import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { type FaultProxy, startProxy } from './proxy.ts'
import { until } from './until.ts'

let database: TestDatabase
let proxy: FaultProxy
let client: pg.Client

beforeAll(async () => {
  database = await createTestDatabase()
  await database.query('CREATE TABLE marks (mark text)')
})
afterAll(() => database.drop())

beforeEach(async () => {
  await database.query('TRUNCATE marks')
  const { hostname, port } = new URL(database.url)
  proxy = await startProxy({ host: hostname, port: Number(port) })
  client = await connectThrough()
})
afterEach(async () => {
  await client.end().catch(() => {})
  await proxy.close()
})

async function connectThrough(): Promise<pg.Client> {
  const one = new pg.Client({ connectionString: proxy.through(database.url) })
  one.on('error', () => {})
  await one.connect()
  return one
}

const marks = async () => (await database.query('SELECT mark FROM marks ORDER BY mark')).map(({ mark }) => mark)
const insert = (mark: string) => client.query('INSERT INTO holdfast.marks VALUES ($1)', [mark])

describe('the proxy', () => {
  it('is not noticed while nothing is asked of it', async () => {
    const long = 'x'.repeat(3_000_000)
    expect((await client.query('SELECT length($1) AS n, $1 AS text', [long])).rows).toEqual([
      { n: 3_000_000, text: long },
    ])
  })

  it('cuts every connection, and serves new ones', async () => {
    const sleeping = client.query('SELECT pg_sleep(60)')
    proxy.cut()
    await expect(sleeping).rejects.toThrow(/terminated|ECONNRESET/)
    client = await connectThrough()
    expect((await client.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }])
  })

  it('goes silent without closing, and delivers late what was held', async () => {
    proxy.halfOpen()
    const late = insert('late')
    expect(await marks()).toEqual([])
    proxy.resume()
    await late
    expect(await marks()).toEqual(['late'])
  })

  it('delays both ways', async () => {
    proxy.delay(40)
    const before = performance.now()
    await client.query('SELECT 1')
    expect(performance.now() - before).toBeGreaterThanOrEqual(79)
  })

  it('drops the reply of a statement that was committed', async () => {
    const dropped = proxy.dropNextReply((text) => text.startsWith('INSERT'))
    await client.query('SELECT 1')
    await expect(insert('committed')).rejects.toThrow(/terminated/)
    await dropped
    expect(await marks()).toEqual(['committed'])
  })

  it('drops the reply to COMMIT, with the transaction done', async () => {
    const dropped = proxy.dropNextCommitReply()
    await client.query('BEGIN')
    await insert('committed')
    await expect(client.query('COMMIT')).rejects.toThrow(/terminated/)
    await dropped
    expect(await marks()).toEqual(['committed'])
  })

  it('drops a request before the server sees it, and the transaction with it', async () => {
    const dropped = proxy.dropNextRequest((text) => text === 'COMMIT')
    await client.query('BEGIN')
    await insert('lost')
    await expect(client.query('COMMIT')).rejects.toThrow(/terminated/)
    await dropped
    const open = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`
    await until(async () => (await database.query(open)).length === 0, { what: 'the server has given up the session' })
    expect(await marks()).toEqual([])
  })

  it('recognises a prepared statement when it is used again', async () => {
    const again = (mark: string) =>
      client.query({ name: 'again', text: 'INSERT INTO holdfast.marks VALUES ($1)', values: [mark] })
    await again('first')
    const dropped = proxy.dropNextReply((text) => text.startsWith('INSERT'))
    await expect(again('second')).rejects.toThrow(/terminated/)
    await dropped
    expect(await marks()).toEqual(['first', 'second'])
  })

  it('springs a trap once, on one connection', async () => {
    const dropped = proxy.dropNextReply((text) => text.startsWith('INSERT'))
    await expect(insert('one')).rejects.toThrow(/terminated/)
    await dropped
    client = await connectThrough()
    await insert('two')
    expect(await marks()).toEqual(['one', 'two'])
  })
})
