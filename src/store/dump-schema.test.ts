/** `UPDATE_GOLDEN=1 npx vitest run src/store/dump-schema.test.ts` writes the golden dump anew. */

import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import { postgresVersions, type ServerVersion } from '../../test/support/postgres-versions.ts'
import { dumpSchema } from './dump-schema.ts'

const GOLDEN = fileURLToPath(new URL('./schema.sql', import.meta.url))

/** Runs the statements in a new database and gives the dump of the schema. */
async function dump(
  server: ServerVersion,
  { migrated, sql = '' }: { migrated: boolean; sql?: string },
): Promise<string> {
  const database = await createTestDatabase({ server, migrated })
  const client = await database.pool.connect()
  try {
    await client.query(sql)
    return await dumpSchema(client)
  } finally {
    client.release()
    await database.drop()
  }
}

describe.each(postgresVersions)('on Postgres %s', (server) => {
  it('the migrations make the schema of the golden dump', async () => {
    const text = await dump(server, { migrated: true })
    if (process.env.UPDATE_GOLDEN === '1' && server === postgresVersions[0]) await writeFile(GOLDEN, text)
    expect(text, 'schema.sql is stale: run with UPDATE_GOLDEN=1').toBe(await readFile(GOLDEN, 'utf8'))
  })

  it.each([
    [
      'a type',
      `CREATE TYPE holdfast.mood AS ENUM ('up', 'it''s')`,
      `CREATE TYPE holdfast.mood AS ENUM ('up', 'it''s');`,
    ],
    ['a default', `CREATE TABLE holdfast.t (n integer DEFAULT 1 NOT NULL)`, '  n integer DEFAULT 1 NOT NULL'],
    [
      'an identity',
      `CREATE TABLE holdfast.t (n integer GENERATED ALWAYS AS IDENTITY)`,
      'n integer GENERATED ALWAYS AS IDENTITY',
    ],
    ['storage options', `CREATE TABLE holdfast.t () WITH (fillfactor = 70)`, ') WITH (fillfactor=70);'],
    ['an unlogged table', `CREATE UNLOGGED TABLE holdfast.t ()`, 'CREATE UNLOGGED TABLE holdfast.t'],
    ['a check', `CREATE TABLE holdfast.t (n integer CHECK (n > 0))`, 'ADD CONSTRAINT t_n_check CHECK ((n > 0));'],
    ['a key', `CREATE TABLE holdfast.t (n integer PRIMARY KEY)`, 'ADD CONSTRAINT t_pkey PRIMARY KEY (n);'],
    [
      'an index',
      `CREATE TABLE holdfast.t (n integer); CREATE INDEX i ON holdfast.t (n) WHERE n > 0`,
      'CREATE INDEX i ON holdfast.t USING btree (n) WHERE (n > 0);',
    ],
    ['a view', `CREATE VIEW holdfast.v AS SELECT 1 AS one`, 'CREATE VIEW holdfast.v AS\n SELECT 1 AS one;'],
    ['a sequence', `CREATE SEQUENCE holdfast.s CACHE 5`, 'CREATE SEQUENCE holdfast.s AS bigint INCREMENT 1'],
    [
      'a comment',
      `COMMENT ON SCHEMA holdfast IS 'x'; CREATE TABLE holdfast.t (); COMMENT ON TABLE holdfast.t IS 'y'`,
      `IS 'y';`,
    ],
    [
      'a trigger and its function',
      `CREATE TABLE holdfast.t (n integer);
       CREATE FUNCTION holdfast.f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
       CREATE TRIGGER g BEFORE UPDATE ON holdfast.t FOR EACH ROW EXECUTE FUNCTION holdfast.f()`,
      'CREATE TRIGGER g BEFORE UPDATE ON holdfast.t FOR EACH ROW EXECUTE FUNCTION holdfast.f();',
    ],
  ])('the dump tells %s', async (_what, sql, expected) => {
    expect(await dump(server, { migrated: false, sql: `CREATE SCHEMA holdfast; ${sql}` })).toContain(expected)
  })
})
