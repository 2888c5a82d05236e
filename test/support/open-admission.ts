/** An admission that is open until told: all its statements but the last, so that a test can put others in between, or cut it. */

import type pg from 'pg'
import { ADMISSION_PARTS } from '../../src/store/admission-parts.ts'
import { createAdmission, type Outcome } from '../../src/store/admit.ts'
import { ALONE_PATIENCE } from '../../src/store/admit-batch.ts'
import { createLanes } from '../../src/store/lanes.ts'
import type { NewRun } from '../../src/store/store.ts'
import { until } from './until.ts'

const admission = createAdmission(ADMISSION_PARTS)

export type OpenAdmission = {
  outcome: Outcome | null
  /** `cut`: the connection is closed without a word. Only the first end counts. */
  end(how: 'COMMIT' | 'ROLLBACK' | 'cut'): Promise<void>
}

export async function openAdmission(pool: pg.Pool, runs: NewRun[]): Promise<OpenAdmission> {
  const lanes = createLanes()
  await lanes.ensure(pool, runs)
  const client = await pool.connect()
  await client.query('BEGIN')
  const begun = await admission.begin(client, runs, ALONE_PATIENCE)
  const outcome = await admission.admit(client, runs, begun, lanes.of)
  let isOpen = true
  return {
    outcome,
    async end(how) {
      if (!isOpen) return
      isOpen = false
      if (how !== 'cut') await client.query(how)
      client.release(how === 'cut')
    },
  }
}

/** Until somebody waits for an admission of the same database to end. */
export function untilOneWaits(pool: pg.Pool): Promise<boolean> {
  const waiting = `
    SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
    WHERE NOT l.granted AND l.locktype = 'advisory' AND d.datname = current_database()`
  return until(async () => (await pool.query(waiting)).rowCount! > 0, {
    what: 'the second waits for the first',
    everyMs: 5,
  })
}
