/**
 * R311, R312: all of a success — state, result, facets, places, event — is one transaction, and applying it again changes nothing. What cannot
 * be indexed costs no run its result.
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, settle, settlementOf, type TestStore } from '../../test/support/store.ts'
import type { Found } from '../run/facets.ts'

const FILE = 'ab'.repeat(32)
const FOUND: Found = {
  facets: [
    { name: 'language', value: 'fr' },
    { name: 'term', value: 'quote " \\ \u{1f30d}' },
  ],
  places: [
    { latitude: 48.8566, longitude: 2.3522, label: 'Paris', fileId: null },
    { latitude: -17.5, longitude: -180, label: null, fileId: null },
  ],
}

describe.each(postgresVersions)('successes that bring what their runs are found by, on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())

  /** Everything that is kept of a run, whoever wrote it. */
  async function rowsOf(runId: string) {
    const read = (table: string, order: string) =>
      t.database.query(`SELECT * FROM ${table} WHERE run_id = $1 ORDER BY ${order}`, [runId])
    const [run] = await t.database.query('SELECT * FROM model_runs WHERE id = $1', [runId])
    return {
      run,
      attempts: await read('run_attempts', 'attempt'),
      results: await read('run_results', 'attempt'),
      facets: await read('run_facets', 'name, value'),
      places: await read('run_places', 'no'),
      events: await read('run_events', 'seq'),
    }
  }

  /** Something goes wrong as soon as the first place of the run would be written, when all else of the statement has begun. */
  async function breakAtPlaces(runId: string, how: string): Promise<() => Promise<unknown>> {
    const name = `break_${runId.replaceAll('-', '')}`
    await t.database.query(
      `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${how}; RETURN NEW; END $$;
       CREATE TRIGGER ${name} BEFORE INSERT ON run_places FOR EACH ROW WHEN (NEW.run_id = '${runId}') EXECUTE FUNCTION ${name}()`,
    )
    return () => t.database.query(`DROP TRIGGER ${name} ON run_places`)
  }

  it('are written with the result and the state, at one moment', async () => {
    const lease = await t.running()
    await settle(t, lease, 'succeed', { found: FOUND })
    const { run, results, facets, places, events } = await rowsOf(lease.runId)
    expect(run).toMatchObject({ status: 'SUCCEEDED', result_ref: 'inline' })
    expect(results).toHaveLength(1)
    expect(facets.map(({ name, value }) => ({ name, value }))).toEqual(FOUND.facets)
    expect(places).toMatchObject([
      { no: 1, latitude: 48.8566, longitude: 2.3522, label: 'Paris', file_id: null },
      { no: 2, latitude: -17.5, longitude: -180, label: null, file_id: null },
    ])
    for (const { created_at: at } of [...facets, ...places]) expect(at).toEqual(run!.created_at)
    expect(events.at(-1)).toMatchObject({ type: 'succeeded' })
    const [row] = await t.database.query(
      `SELECT count(DISTINCT x)::int AS writers FROM (
        SELECT xmin::text AS x FROM model_runs WHERE id = $1 UNION SELECT xmin::text FROM run_results WHERE run_id = $1
        UNION SELECT xmin::text FROM run_facets WHERE run_id = $1 UNION SELECT xmin::text FROM run_places WHERE run_id = $1
        UNION SELECT xmin::text FROM run_events WHERE run_id = $1 AND type = 'succeeded') all_of_it`,
      [lease.runId],
    )
    expect(row).toEqual({ writers: 1 })
  })

  it('a place is of the one file of its run, unless it names another', async () => {
    await t.database.query(
      `INSERT INTO files (id, bytes, type, ref, created_at) VALUES ($1, 1, 'text/plain', 'x', clock()) ON CONFLICT DO NOTHING`,
      [FILE],
    )
    const lease = await t.running()
    await t.database.query(
      `INSERT INTO run_files (run_id, parameter, file_id, name) VALUES ($1, '/document', $2, 'a.txt')`,
      [lease.runId, FILE],
    )
    const other = { ...FOUND.places[0]!, fileId: 'f'.repeat(64) }
    await settle(t, lease, 'succeed', { found: { facets: [], places: [...FOUND.places, other] } })
    const { places } = await rowsOf(lease.runId)
    expect(places.map(({ file_id: id }) => id)).toEqual([FILE, FILE, 'f'.repeat(64)])
  })

  it.each([
    ['the statement fails', `RAISE EXCEPTION 'broken'`],
    ['the server ends the connection', 'PERFORM pg_terminate_backend(pg_backend_pid()), pg_sleep(5)'],
  ])('nothing is left when %s in between, and the same settle does it all afterwards', async (_, how) => {
    const lease = await t.running()
    const before = await rowsOf(lease.runId)
    const mend = await breakAtPlaces(lease.runId, how)
    await expect(settle(t, lease, 'succeed', { found: FOUND })).rejects.toThrow()
    expect(await rowsOf(lease.runId)).toEqual(before)
    await mend()
    expect(await settle(t, lease, 'succeed', { found: FOUND })).toEqual({ status: 'SUCCEEDED', repeated: false })
    const { facets, places } = await rowsOf(lease.runId)
    expect([facets.length, places.length]).toEqual([2, 2])
  })

  it('the same settle again leaves the same rows', async () => {
    const lease = await t.running()
    await settle(t, lease, 'succeed', { found: FOUND })
    const before = await rowsOf(lease.runId)
    expect(await settle(t, lease, 'succeed', { found: FOUND })).toEqual({ status: 'SUCCEEDED', repeated: true })
    expect(await rowsOf(lease.runId)).toEqual(before)
  })

  it('an attempt that has lost its lease leaves nothing', async () => {
    const lease = await t.running()
    expect(await settle(t, { ...lease, epoch: lease.epoch - 1 }, 'succeed', { found: FOUND })).toMatchObject({
      status: 'stale',
    })
    const { run, facets, places } = await rowsOf(lease.runId)
    expect([run!.status, facets, places]).toEqual(['RUNNING', [], []])
  })

  it('what the database refuses to index does not fail the run', async () => {
    const bad: Found = { facets: [{ name: 'language', value: '' }], places: [] }
    const lease = await t.running()
    const neighbour = await t.running()
    const settled = await Promise.all([
      settle(t, lease, 'succeed', { found: bad }),
      settle(t, neighbour, 'succeed', { found: FOUND }),
    ])
    expect(settled.map(({ status }) => status)).toEqual(['SUCCEEDED', 'SUCCEEDED'])
    expect((await rowsOf(lease.runId)).facets).toEqual([])
    expect((await rowsOf(neighbour.runId)).facets).toHaveLength(2)
  })

  it('settle beside successes without and failures, each as it should', async () => {
    const leases = await Promise.all(Array.from({ length: 30 }, () => t.running()))
    const settled = await Promise.all(
      leases.map((lease, no) => {
        if (no % 3 === 0) return t.store.settle(settlementOf(lease, 'fail'))
        return t.store.settle(settlementOf(lease, 'succeed', no % 3 === 1 ? { found: FOUND } : {}))
      }),
    )
    expect(settled.map(({ status }) => status)).toEqual(leases.map((_, no) => (no % 3 === 0 ? 'FAILED' : 'SUCCEEDED')))
    const counts = await t.database.query<{ run_id: string; n: number }>(
      'SELECT run_id, count(*)::int AS n FROM run_facets WHERE run_id = ANY ($1) GROUP BY run_id',
      [leases.map(({ runId }) => runId)],
    )
    const expected = leases.filter((_, no) => no % 3 === 1).map(({ runId }) => ({ run_id: runId, n: 2 }))
    expect(counts.toSorted((a, b) => (a.run_id < b.run_id ? -1 : 1))).toEqual(
      expected.toSorted((a, b) => (a.run_id < b.run_id ? -1 : 1)),
    )
  })

  it.each(['run_facets', 'run_places'])('%s never change', async (table) => {
    const lease = await t.running()
    await settle(t, lease, 'succeed', { found: FOUND })
    await expect(
      t.database.query(`UPDATE ${table} SET created_at = clock() WHERE run_id = $1`, [lease.runId]),
    ).rejects.toThrow()
    await expect(t.database.query(`DELETE FROM ${table} WHERE run_id = $1`, [lease.runId])).rejects.toThrow()
  })
})
