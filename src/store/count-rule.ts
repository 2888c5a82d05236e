/**
 * A new rule and what was there before it. Runs that were submitted while no rule was about them have no hold, so they get one: but only
 * once every transaction that may not have seen the rule has ended, or its runs would be missed.
 *
 * Which transactions those are is written down with the rule, after its commit: all that are open then, whether they have written anything yet
 * or not. So anybody can go on where a dead process stopped: the janitor does.
 */

import type pg from 'pg'
import type { QuotaName } from '../run/quota.ts'

/** Clients of this database with an open transaction, each under the name that no other transaction has. */
const OPEN_TRANSACTIONS = `
SELECT l.virtualxid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'virtualxid' AND l.granted AND l.mode = 'ExclusiveLock'
  AND a.datname = current_database() AND a.usename IS NOT NULL AND l.pid <> pg_backend_pid()`

const BY_NAME = 'owner = $1 AND model = $2 AND together = $3'

const NOTE_OPEN = `UPDATE quotas SET awaits = ARRAY(${OPEN_TRANSACTIONS}) WHERE ${BY_NAME} AND counted_at IS NULL AND awaits IS NULL`

const READ = `
SELECT updated_at::text AS version, runs_per_hour, runs_per_day, awaits IS NULL AS is_new,
  EXISTS (SELECT FROM (${OPEN_TRANSACTIONS}) AS o(name) WHERE o.name = ANY (awaits)) AS is_waiting
FROM quotas WHERE ${BY_NAME} AND counted_at IS NULL`

const PENDING = 'SELECT owner, model, together FROM quotas WHERE counted_at IS NULL ORDER BY updated_at LIMIT 10'

const IN_SCOPE = `($1 = '*' OR r.owner = $1) AND ($2 = '' OR r.model = $2)`

/** In one statement, so that no run changes its state between two looks. Sorted, since two of these may meet. */
const HOLD_LIVE = `
INSERT INTO quota_holds AS held (run_id, owner, model, created_at)
SELECT r.id, r.owner, r.model, r.created_at FROM model_runs r WHERE r.status IN ('PENDING', 'RUNNING') AND ${IN_SCOPE} ORDER BY r.id
ON CONFLICT (run_id) DO UPDATE SET is_active = true WHERE NOT held.is_active`

const holdRecent = (from: string, isRecent: string) => `
INSERT INTO quota_holds (run_id, owner, model, created_at, is_active)
SELECT * FROM (SELECT r.${from === 'run_search' ? 'run_id' : 'id'} AS id, r.owner, r.model, r.created_at, false
  FROM ${from} r WHERE ${isRecent} AND r.created_at > clock() - $3 * interval '1 hour') AS recent ORDER BY id
ON CONFLICT DO NOTHING`

const HOLD_RECENT = {
  owner: holdRecent('run_search', `r.owner = $1 AND ($2 = '' OR r.model = $2)`),
  model: holdRecent('run_search', `$1 = '*' AND r.model = $2`),
  all: holdRecent(
    'model_runs',
    `$1 = '*' AND $2 = '' AND r.status IN ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED')`,
  ),
}

const COUNTED = `UPDATE quotas SET counted_at = clock(), awaits = NULL WHERE ${BY_NAME} AND counted_at IS NULL AND updated_at = $4::timestamptz`

/** A rule about everyone may have to look at all that waits. */
const STATEMENT_MS_MAX = 300_000
const WAIT_MS_MAX = 10_000
const LOOK_MS_MAX = 200

type Pending = {
  version: string
  runs_per_hour: number | null
  runs_per_day: number | null
  is_new: boolean
  is_waiting: boolean
}

/** Answers when what was there before counts, or when transactions of before take too long: then the janitor goes on. */
export async function countRule(pool: pg.Pool, name: QuotaName, waitMs = WAIT_MS_MAX): Promise<void> {
  const giveUpAt = performance.now() + waitMs
  for (let lookMs = 2; !(await goOn(pool, name)); lookMs = Math.min(LOOK_MS_MAX, 2 * lookMs)) {
    if (performance.now() > giveUpAt) return
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
}

/** Rules that somebody has set and not finished. */
export async function continueCounting(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<QuotaName>(PENDING)
  for (const name of rows) await goOn(pool, name)
}

/** One step. Answers whether nothing is left to do. */
async function goOn(pool: pg.Pool, name: QuotaName): Promise<boolean> {
  const { owner, model, together } = name
  const key = [owner, model, together]
  await pool.query(NOTE_OPEN, key)
  const [rule] = (await pool.query<Pending>(READ, key)).rows
  if (!rule) return true
  if (rule.is_new || rule.is_waiting) return false
  const hours = rule.runs_per_day !== null ? 24 : rule.runs_per_hour !== null ? 1 : 0
  const client = await pool.connect()
  try {
    await client.query(`SET statement_timeout = ${STATEMENT_MS_MAX}`)
    const patient = { query_timeout: 1.5 * STATEMENT_MS_MAX }
    await client.query({ ...patient, text: HOLD_LIVE, values: [owner, model] })
    const kind = owner !== '*' ? 'owner' : model !== '' ? 'model' : 'all'
    if (hours > 0) await client.query({ ...patient, text: HOLD_RECENT[kind], values: [owner, model, hours] })
    await client.query(COUNTED, [...key, rule.version])
  } finally {
    const isReset = await client.query('RESET statement_timeout').then(
      () => true,
      () => false,
    )
    client.release(!isReset)
  }
  return false
}
