/** A run that comes alone is stored by another statement than runs in a batch, and nobody can tell afterwards. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { key, newRun, slot } from '../../test/support/new-run.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { accepted, openTestStore, type TestStore } from '../../test/support/store.ts'
import type { NewRun } from './store.ts'

const TABLES = {
  model_runs: 'id',
  run_search: 'run_id',
  run_events: 'run_id',
  idempotency_keys: 'run_id',
  payload_slots: 'run_id',
}
/** Different in any two runs. */
const OWN = ['id', 'run_id', 'key', 'payload_hash', 'parameters', 'seed', 'xid']

describe.each(postgresVersions)('a run alone on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())

  /** All rows of a run without what is its own; times in seconds after its creation. */
  async function rowsOf({ id }: NewRun): Promise<Record<string, unknown[]>> {
    const entries = Object.entries(TABLES).map(async ([table, column]) => {
      const rows = await t.database.query<{ row: Record<string, unknown> }>(
        `SELECT to_jsonb(t) AS row FROM ${table} t WHERE ${column} = $1`,
        [id],
      )
      return [table, rows.map(({ row }) => row)] as const
    })
    const rows = Object.fromEntries(await Promise.all(entries))
    const createdAtMs = Date.parse(rows.model_runs![0]!.created_at as string)
    const without = ([name, value]: [string, unknown]): [string, unknown] =>
      (name === 'at' || name.endsWith('_at')) && typeof value === 'string'
        ? [name, Math.round((Date.parse(value) - createdAtMs) / 1_000)]
        : [name, value]
    return Object.fromEntries(
      Object.entries(rows).map(([table, all]) => [
        table,
        all.map((row) =>
          Object.fromEntries(
            Object.entries(row)
              .filter(([name]) => !OWN.includes(name))
              .map(without),
          ),
        ),
      ]),
    )
  }

  const cases: [string, (name: string) => Partial<NewRun>][] = [
    ['without names', () => ({})],
    ['with a key', (name) => ({ key: key(name, 900) })],
    ['with a slot', () => ({ slot: slot('succeeded', 300) })],
    ['with both', (name) => ({ key: key(name), slot: slot() })],
    [
      'later, with settings of its own',
      () => ({
        availableAt: '2100-01-01T00:00:00.000Z',
        priority: 9,
        expectedSeconds: 2.5,
        timeoutSeconds: 5,
        maxAttempts: 7,
      }),
    ],
  ]
  it.each(cases)('%s leaves the rows that it leaves in a batch', async (what, changesOf) => {
    const [alone, together, neighbour] = ['alone', 'together', 'beside'].map((name) =>
      newRun(changesOf(`${what} ${name}`)),
    ) as [NewRun, NewRun, NewRun]
    const answer = accepted(await t.store.submit(alone))
    const answers = (await t.store.submitMany([together, neighbour])).map(accepted)
    expect(answer.idempotentHit).toBe(false)
    expect(answers.map(({ idempotentHit }) => idempotentHit)).toEqual([false, false])
    expect(answer.run).toEqual((await t.store.readRun(alone.id))!.run)
    expect(await rowsOf(alone)).toEqual(await rowsOf(together))
  })

  it('whose slot is taken is not made, and its key leads to the run that has the slot', async () => {
    const holder = await t.add({ slot: slot() })
    const asked = newRun({ payloadHash: holder.payloadHash, key: key('half'), slot: slot() })
    const answer = accepted(await t.store.submit(asked))
    expect(answer).toMatchObject({ idempotentHit: true, run: { id: holder.id } })
    const keys = await t.database.query(`SELECT run_id FROM idempotency_keys WHERE key = 'half'`)
    expect(keys).toEqual([{ run_id: holder.id }])
    expect(await t.database.query('SELECT FROM model_runs WHERE id = $1', [asked.id])).toEqual([])
  })
})
