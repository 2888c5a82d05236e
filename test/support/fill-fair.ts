/** Fills a queue with fair share by a few statements: as many waiting runs of as many owners as a test wants, oldest first, all due. */

import type { TestDatabase } from './database.ts'

export type FairFill = {
  queue: string
  model?: string
  owners: string[]
  runsEach: number
  priority?: number
  listed?: boolean
}

const OWNERS = `
INSERT INTO lanes (lane, queue, model, model_version, priority, owner) OVERRIDING SYSTEM VALUE
SELECT nextval('fair_lanes'), $1, $2, '1', $4, owner FROM unnest($3::text[]) AS o(owner) ON CONFLICT DO NOTHING`

const RUNS = `
INSERT INTO model_runs (id, owner, model, model_version, queue, priority, lane, executor, parameters, payload_hash, seed, created_at, available_at,
  timeout_seconds, max_attempts, event_seq)
SELECT gen_random_uuid(), l.owner, $2, '1', $1, $4, l.lane, 'inline', '{}', repeat('0', 64), n, clock(),
  clock() - interval '1 hour' + n * interval '1 millisecond', 3600, 3, 1
FROM generate_series(1, $5::int) AS n CROSS JOIN lanes l
WHERE l.queue = $1 AND l.model = $2 AND l.priority = $4 AND l.owner = ANY ($3::text[])`

const LISTED = `
INSERT INTO fair_owners (queue, owner, model, model_version, pass) SELECT $1, owner, $2, '1', 0 FROM unnest($3::text[]) AS o(owner)
ON CONFLICT DO NOTHING`

export async function setFair(database: TestDatabase, queue: string, isFair = true): Promise<void> {
  await database.query(
    'INSERT INTO queues (queue, fair_share) VALUES ($1, $2) ON CONFLICT (queue) DO UPDATE SET fair_share = $2',
    [queue, isFair],
  )
}

export async function setWeights(
  database: TestDatabase,
  queue: string,
  weights: Record<string, number>,
): Promise<void> {
  await database.query('INSERT INTO queue_weights SELECT $1, key, value::float8 FROM jsonb_each_text($2)', [
    queue,
    JSON.stringify(weights),
  ])
}

export async function fillFair(
  database: TestDatabase,
  { queue, model = 'forecast', owners, runsEach, priority = 0, listed = true }: FairFill,
): Promise<void> {
  await setFair(database, queue)
  await database.query(OWNERS.replaceAll('$4', `'${priority}'::smallint`), [queue, model, owners])
  await database.query(RUNS.replaceAll('$4', `'${priority}'::smallint`).replace('$5', String(runsEach)), [
    queue,
    model,
    owners,
  ])
  if (listed) await database.query(LISTED, [queue, model, owners])
}
