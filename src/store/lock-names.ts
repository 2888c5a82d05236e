/**
 * Locks by name, held until the transaction ends, in the space in which admission takes them (`admit.ts`) and in the same order, so that
 * two who want several wait in line.
 */

import type pg from 'pg'

const LOCK = `
SELECT count(*) FROM (
  SELECT pg_advisory_xact_lock(4618, place) FROM (
    SELECT DISTINCT hashtext(name) AS place FROM unnest($1::text[]) AS n(name) ORDER BY 1
  ) sorted OFFSET 0
) locked`

export async function lockNames(client: pg.ClientBase, names: readonly string[]): Promise<void> {
  await client.query({ name: 'lock_names', text: LOCK, values: [names] })
}
