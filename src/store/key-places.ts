/**
 * The places of concurrency keys, under their locks.
 *
 * Runs get a place only by whoever holds the lock of the key, and only in a statement after the one that took it, so that it sees every
 * place given before. Ends need no lock: they only make room. Hence there are never more than allowed, however many submit, approve and
 * promote at once. Locks are taken by admission, by approvals and by promotion, sorted, before any row; whoever holds a row never waits
 * for one.
 */

import type pg from 'pg'
import type { RunKey } from '../run/runs-per-key.ts'
import { inTransaction } from './in-transaction.ts'
import { lockNames } from './lock-names.ts'

export type KeyName = Pick<RunKey, 'owner' | 'key'>

/** What the lock of a key is called. */
export function keyLockName({ owner, key }: KeyName): string {
  return JSON.stringify(['key', owner, key])
}

export async function lockKeys(client: pg.ClientBase, keys: readonly KeyName[]): Promise<void> {
  await lockNames(client, keys.map(keyLockName))
}

/** A transaction that begins with the locks of these keys. Null undoes it. */
export async function inKeyLocks<T>(
  pool: pg.Pool,
  keys: readonly KeyName[],
  work: (client: pg.ClientBase) => Promise<T | null>,
): Promise<T | null> {
  return inTransaction(pool, async (client) => {
    if (keys.length > 0) await lockKeys(client, keys)
    return work(client)
  })
}

// Whether a run has ended is asked one by one, by its key: no plan can make that a walk over all that is running.
export const IS_ACTIVE = `(SELECT r.finished_at IS NULL FROM model_runs r WHERE r.id = h.run_id LIMIT 1) IS TRUE`

// How many runs of each key keep it busy, and some of them that the seer may see.
const READ_USE = `
SELECT a.owner, a.key, u.active, u.holders, date_part('epoch', clock()) * 1000 AS now_ms, (
    SELECT count(*)::int FROM (
      SELECT FROM concurrency_holds h WHERE h.owner = a.owner AND h.key = a.key AND h.state = 'waiting' LIMIT 1001) w) AS waiting
FROM unnest($1::text[], $2::text[], $3::text[]) AS a(owner, key, seer)
CROSS JOIN LATERAL (
  SELECT count(*)::int AS active, COALESCE((array_agg(h.run_id::text ORDER BY h.arrived_at, h.run_id)
      FILTER (WHERE a.seer IS NULL OR (SELECT r.owner FROM model_runs r WHERE r.id = h.run_id) = a.seer))[1:10], '{}') AS holders
  FROM concurrency_holds h WHERE h.owner = a.owner AND h.key = a.key AND h.state = 'held' AND ${IS_ACTIVE}
) u`

export type KeyUseRow = {
  owner: string
  key: string
  active: number
  waiting: number
  holders: string[]
  now_ms: number
}

/** In the order asked for. `seer`: whose runs may be named as holders, null for everyone's. */
export async function readKeyUse(
  client: pg.ClientBase,
  keys: readonly (KeyName & { seer: string | null })[],
): Promise<KeyUseRow[]> {
  const values = [keys.map(({ owner }) => owner), keys.map(({ key }) => key), keys.map(({ seer }) => seer)]
  return (await client.query<KeyUseRow>({ name: 'read_key_use', text: READ_USE, values })).rows
}

const HOLD = `
INSERT INTO concurrency_holds (run_id, owner, key, max_runs, mode, state, priority, arrived_at)
SELECT i.run_id, i.owner, i.key, i.max_runs, i.mode, i.state, i.priority, COALESCE(i.arrived_at, clock())
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::int[], $5::text[], $6::text[], $7::smallint[], $8::timestamptz[])
  AS i(run_id, owner, key, max_runs, mode, state, priority, arrived_at)`

export type NewHold = RunKey & {
  runId: string
  state: 'held' | 'waiting' | 'scheduled'
  priority: number
  /** When it joins the line; null for now. */
  arrivesAt: string | Date | null
}

export async function insertHolds(client: pg.ClientBase, holds: readonly NewHold[]): Promise<void> {
  await client.query({
    name: 'insert_concurrency_holds',
    text: HOLD,
    values: [
      holds.map(({ runId }) => runId),
      holds.map(({ owner }) => owner),
      holds.map(({ key }) => key),
      holds.map(({ limit }) => limit),
      holds.map(({ mode }) => mode),
      holds.map(({ state }) => state),
      holds.map(({ priority }) => priority),
      holds.map(({ arrivesAt }) => arrivesAt),
    ],
  })
}

const BLOCK = `
INSERT INTO run_blocks (run_id, reason, detail, start_at, created_at, since)
SELECT i.run_id, i.reason, i.detail, i.start_at, r.created_at, clock()
FROM unnest($1::uuid[], $2::text[], $3::jsonb[], $4::timestamptz[]) AS i(run_id, reason, detail, start_at)
JOIN model_runs r ON r.id = i.run_id`

export type NewBlock = {
  runId: string
  reason: 'approval' | 'concurrency'
  detail: Record<string, unknown>
  startAt: string | null
}

/** For runs that this transaction has made with `available_at` at `BLOCKED_UNTIL`. */
export async function insertBlocks(client: pg.ClientBase, blocks: readonly NewBlock[]): Promise<void> {
  await client.query({
    name: 'insert_run_blocks',
    text: BLOCK,
    values: [
      blocks.map(({ runId }) => runId),
      blocks.map(({ reason }) => reason),
      blocks.map(({ detail }) => JSON.stringify(detail)),
      blocks.map(({ startAt }) => startAt),
    ],
  })
}
