/**
 * Hand-typed SQL against the rules of the schema: what the table of transitions allows passes, everything else is refused by the
 * database itself. R126–R130, R378 and R380 are proven here.
 */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { ATTEMPT_STATES, type AttemptState, isTerminal, RUN_STATUSES, type RunStatus } from '../run/status.ts'
import { mayAttemptBecome, RUN_TRANSITIONS } from '../run/transition.ts'

const LEASE = `lease_owner = 'w', lease_expires_at = clock() + interval '1 minute', deadline_at = clock() + interval '1 hour'`
const NO_LEASE = 'lease_owner = NULL, lease_expires_at = NULL, deadline_at = NULL'
const NO_RESULT = 'result_ref = NULL, result_hash = NULL'

/** What a row must look like in a status, so that only the transition itself can be at fault. */
const SHAPE: Record<RunStatus, string> = {
  PENDING: `${NO_LEASE}, ${NO_RESULT}, finished_at = NULL`,
  RUNNING: `${LEASE}, ${NO_RESULT}, finished_at = NULL, lease_epoch = lease_epoch + 1, attempt_count = attempt_count + 1,
    started_at = COALESCE(started_at, clock())`,
  SUCCEEDED: `${NO_LEASE}, finished_at = clock(), result_ref = 'inline', result_hash = 'f'`,
  FAILED: `${NO_LEASE}, ${NO_RESULT}, finished_at = clock()`,
  CANCELLED: `${NO_LEASE}, ${NO_RESULT}, finished_at = clock()`,
}

const WAY: Record<RunStatus, RunStatus[]> = {
  PENDING: [],
  RUNNING: ['RUNNING'],
  SUCCEEDED: ['RUNNING', 'SUCCEEDED'],
  FAILED: ['RUNNING', 'FAILED'],
  CANCELLED: ['CANCELLED'],
}

/** Another value of the same type, whatever the column holds. */
const OTHER_VALUE: Record<string, (column: string) => string> = {
  uuid: () => 'gen_random_uuid()',
  text: (column) => `COALESCE(${column}, '') || 'x'`,
  _text: (column) => `array_append(${column}, 'x')`,
  jsonb: () => `'{"other": true}'`,
  timestamptz: (column) => `COALESCE(${column}, clock()) + interval '1 hour'`,
  run_status: (column) => `CASE ${column} WHEN 'FAILED' THEN 'CANCELLED' ELSE 'FAILED' END::run_status`,
  int2: (column) => `${column} + 1`,
  int4: (column) => `COALESCE(${column}, 0) + 1`,
  int8: (column) => `${column} + 1`,
  float8: (column) => `COALESCE(${column}, 0) + 1`,
}

describe.each(postgresVersions)('the schema on Postgres %s', (server) => {
  let database: TestDatabase
  let columns: { name: string; type: string }[]

  beforeAll(async () => {
    database = await createTestDatabase({ server })
    columns = await database.query<{ name: string; type: string }>(
      `SELECT column_name AS name, udt_name AS type FROM information_schema.columns
       WHERE table_schema = 'holdfast' AND table_name = 'model_runs'`,
    )
  })
  afterAll(() => database.drop())

  async function run(status: RunStatus = 'PENDING'): Promise<string> {
    const id = randomUUID()
    await database.query(
      `INSERT INTO model_runs (id, owner, model, model_version, queue, priority, lane, executor, parameters, payload_hash, seed,
         created_at, available_at, timeout_seconds, max_attempts, event_seq)
       VALUES ($1, 'o', 'm', '1', 'q', 0, 1, 'inline', '{}', $2, 1, clock(), clock(), 60, 3, 1)`,
      [id, 'a'.repeat(64)],
    )
    for (const step of WAY[status]) await become(id, step)
    return id
  }

  const set = (id: string, change: string) => database.query(`UPDATE model_runs SET ${change} WHERE id = $1`, [id])
  const become = (id: string, status: RunStatus) => set(id, `status = '${status}', ${SHAPE[status]}`)

  /** The name of the rule that refused. */
  async function refusal(work: Promise<unknown>): Promise<string> {
    const error = await work.then(
      () => null,
      (reason: { code?: string; constraint?: string }) => reason,
    )
    expect(error?.code).toMatch(/^23/)
    return error?.constraint ?? ''
  }

  const pairs = RUN_STATUSES.flatMap((from) => RUN_STATUSES.filter((to) => to !== from).map((to) => ({ from, to })))
  const allowed = pairs.filter(({ from, to }) => RUN_TRANSITIONS.some((row) => row.from === from && row.to === to))
  const forbidden = pairs.filter((pair) => !allowed.includes(pair))

  it.each(allowed)('lets $from become $to', async ({ from, to }) => {
    await become(await run(from), to)
  })

  it.each(forbidden)('R127: refuses that $from becomes $to', async ({ from, to }) => {
    const rules = isTerminal(from) ? ['runs_sealed', 'runs_transition'] : ['runs_transition']
    expect(rules).toContain(await refusal(become(await run(from), to)))
  })

  it.each(['id', 'payload_hash', 'parameters', 'owner', 'model', 'model_version', 'seed', 'retry_of', 'created_at'])(
    'R126, R129: refuses another %s',
    async (name) => {
      const type = columns.find((column) => column.name === name)!.type
      const change =
        name === 'payload_hash' ? `payload_hash = repeat('b', 64)` : `${name} = ${OTHER_VALUE[type]!(name)}`
      expect(await refusal(set(await run(), change))).toBe('runs_identity')
    },
  )

  it.each(['SUCCEEDED', 'FAILED', 'CANCELLED'] as const)('refuses any change of a %s run', async (status) => {
    const id = await run(status)
    for (const { name, type } of columns.filter((column) => column.name !== 'event_seq')) {
      await refusal(set(id, `${name} = ${OTHER_VALUE[type]!(name)}`))
    }
    await set(id, 'event_seq = event_seq + 1')
  })

  it.each(['lease_owner', 'lease_expires_at', 'deadline_at'])('refuses RUNNING without %s', async (name) => {
    expect(await refusal(set(await run('RUNNING'), `${name} = NULL`))).toBe('runs_lease_while_running')
  })

  it('refuses a lease on a run that is not RUNNING', async () => {
    expect(await refusal(set(await run(), LEASE))).toBe('runs_lease_while_running')
  })

  it('refuses a terminal run without finished_at, and finished_at on one that is not terminal', async () => {
    const id = await run('RUNNING')
    const change = `status = 'FAILED', ${SHAPE.FAILED.replace('clock()', 'NULL')}`
    expect(await refusal(set(id, change))).toBe('runs_finished_when_terminal')
    expect(await refusal(set(id, 'finished_at = clock()'))).toBe('runs_finished_when_terminal')
  })

  it('R130: refuses a result on a run that has not succeeded, and a success without one', async () => {
    const id = await run('RUNNING')
    expect(await refusal(set(id, `result_ref = 'inline', result_hash = 'f'`))).toBe('runs_result_when_succeeded')
    const failed = `status = 'FAILED', ${SHAPE.FAILED.replace('result_ref = NULL', `result_ref = 'inline'`)}`
    expect(await refusal(set(id, failed))).toBe('runs_result_when_succeeded')
    const empty = `status = 'SUCCEEDED', ${SHAPE.SUCCEEDED.replace(`'f'`, 'NULL')}`
    expect(await refusal(set(id, empty))).toBe('runs_result_when_succeeded')
  })

  it('R128: a lease changes hands only with a higher epoch', async () => {
    const id = await run('RUNNING')
    expect(await refusal(set(id, `lease_owner = 'thief'`))).toBe('runs_fence')
    await set(id, `lease_owner = 'adopter', lease_epoch = lease_epoch + 1`)
  })

  it.each([
    ['without a higher epoch', 'lease_epoch = lease_epoch + 1,', ''],
    ['without counting the attempt', 'attempt_count = attempt_count + 1', 'attempt_count = GREATEST(attempt_count, 1)'],
  ])('R128: refuses a claim %s', async (_what, part, instead) => {
    const id = await run('RUNNING')
    await become(id, 'PENDING')
    expect(await refusal(set(id, `status = 'RUNNING', ${SHAPE.RUNNING.replace(part, instead)}`))).toBe('runs_fence')
  })

  it.each(['lease_epoch', 'attempt_count', 'event_seq'])('refuses that %s goes back', async (name) => {
    const id = await run('RUNNING')
    await become(id, 'PENDING')
    await become(id, 'RUNNING')
    expect(await refusal(set(id, `${name} = ${name} - 1`))).toBe('runs_fence')
  })

  it('a requested cancel is never taken back, and a run with one never waits', async () => {
    const id = await run('RUNNING')
    await set(id, 'cancel_requested_at = clock()')
    expect(await refusal(set(id, 'cancel_requested_at = NULL'))).toBe('runs_fence')
    expect(await refusal(become(id, 'PENDING'))).toBe('runs_waiting_run_is_not_cancelled')
  })

  it('a run that has used up its attempts never waits for another', async () => {
    const id = await run('RUNNING')
    await set(id, 'max_attempts = 1')
    expect(await refusal(become(id, 'PENDING'))).toBe('runs_attempts_within_limit')
  })

  describe('attempts', () => {
    async function attempt(state: AttemptState): Promise<string> {
      const id = randomUUID()
      const open = state === 'SUBMITTED' || state === 'RUNNING'
      await database.query(
        `INSERT INTO run_attempts (run_id, attempt, state, executor, worker_id, lease_epoch, submitted_at, finished_at)
         VALUES ($1, 1, $2, 'inline', 'w', 1, clock(), $3)`,
        [id, state, open ? null : new Date()],
      )
      return id
    }
    const setAttempt = (id: string, change: string) =>
      database.query(`UPDATE run_attempts SET ${change} WHERE run_id = $1`, [id])
    const states = ATTEMPT_STATES.flatMap((from) =>
      ATTEMPT_STATES.filter((to) => to !== from).map((to) => ({ from, to })),
    )

    it.each(states)('$from to $to as the table says', async ({ from, to }) => {
      const id = await attempt(from)
      const finished = to === 'SUBMITTED' || to === 'RUNNING' ? 'NULL' : 'clock()'
      const change = setAttempt(id, `state = '${to}', finished_at = ${finished}`)
      if (mayAttemptBecome(from, to)) await change
      else expect(await refusal(change)).toBe('attempts_sealed')
    })

    it('a finished attempt never changes, an open one takes progress', async () => {
      await setAttempt(await attempt('RUNNING'), `progress = '1'`)
      for (const state of ATTEMPT_STATES.filter((name) => name !== 'SUBMITTED' && name !== 'RUNNING'))
        expect(await refusal(setAttempt(await attempt(state), `progress = '1'`))).toBe('attempts_sealed')
    })

    it('a finished attempt has its time, an open one none', async () => {
      expect(await refusal(setAttempt(await attempt('RUNNING'), 'finished_at = clock()'))).toBe('attempts_finished')
      expect(await refusal(setAttempt(await attempt('RUNNING'), `state = 'LOST'`))).toBe('attempts_finished')
    })
  })

  describe('what is kept', () => {
    const KEPT = [
      ['model_runs', 'runs_kept', 'runs_not_truncated'],
      ['run_attempts', 'attempts_kept', 'attempts_not_truncated'],
      ['run_events', 'events_append_only', 'events_not_truncated'],
      ['run_results', 'results_sealed', 'results_not_truncated'],
    ] as const

    /** A succeeded run with a row in each table. */
    async function finished(): Promise<string> {
      const id = await run('SUCCEEDED')
      await database.query(
        `INSERT INTO run_attempts (run_id, attempt, state, executor, worker_id, lease_epoch, submitted_at, finished_at)
         VALUES ($1, 1, 'SUCCEEDED', 'inline', 'w', 1, clock(), clock())`,
        [id],
      )
      await database.query(`INSERT INTO run_events (run_id, seq, type, at) VALUES ($1, 1, 'created', clock())`, [id])
      await database.query(`INSERT INTO run_results (run_id, attempt, result) VALUES ($1, 1, '1')`, [id])
      return id
    }

    it.each(KEPT)('%s refuses DELETE and TRUNCATE', async (table, onDelete, onTruncate) => {
      const id = await finished()
      const column = table === 'model_runs' ? 'id' : 'run_id'
      expect(await refusal(database.query(`DELETE FROM ${table} WHERE ${column} = $1`, [id]))).toBe(onDelete)
      expect(await refusal(database.query(`TRUNCATE ${table} CASCADE`))).toBe(onTruncate)
    })

    it('R130: a result and an event refuse UPDATE', async () => {
      const id = await finished()
      const results = database.query(`UPDATE run_results SET result = '2' WHERE run_id = $1`, [id])
      expect(await refusal(results)).toBe('results_sealed')
      const events = database.query(`UPDATE run_events SET type = 'other' WHERE run_id = $1`, [id])
      expect(await refusal(events)).toBe('events_append_only')
    })

    it('a second event with one number is refused', async () => {
      const id = await finished()
      const again = database.query(`INSERT INTO run_events (run_id, seq, type, at) VALUES ($1, 1, 'x', clock())`, [id])
      expect(await refusal(again)).toBe('run_events_pkey')
    })

    it('retention, and only DELETE by it, passes', async () => {
      const id = await finished()
      const client = await database.pool.connect()
      try {
        await client.query('BEGIN')
        await client.query(`SET LOCAL holdfast.retention = 'on'`)
        await client.query('SAVEPOINT before')
        expect(await refusal(client.query('UPDATE run_events SET seq = 9 WHERE run_id = $1', [id]))).not.toBe('')
        await client.query('ROLLBACK TO before')
        expect(await refusal(client.query('TRUNCATE run_events'))).toBe('events_not_truncated')
        await client.query('ROLLBACK TO before')
        for (const table of ['run_results', 'run_events', 'run_attempts'])
          expect((await client.query(`DELETE FROM ${table} WHERE run_id = $1`, [id])).rowCount).toBe(1)
        expect((await client.query('DELETE FROM model_runs WHERE id = $1', [id])).rowCount).toBe(1)
        await client.query('COMMIT')
      } finally {
        client.release()
      }
    })
  })

  // Postgres 16 was the first that lets an index which only sums up blocks be.
  it.skipIf(server === '14')('the end of an attempt is written where the attempt is', async () => {
    const runId = await run('RUNNING')
    const client = await database.pool.connect()
    await client.query('BEGIN')
    await client.query(
      `INSERT INTO run_attempts (run_id, attempt, state, executor, worker_id, lease_epoch, submitted_at, started_at)
       VALUES ($1, 1, 'RUNNING', 'inline', 'w', 1, clock(), clock())`,
      [runId],
    )
    await client.query(`UPDATE run_attempts SET state = 'SUCCEEDED', finished_at = clock() WHERE run_id = $1`, [runId])
    const { rows } = await client.query(
      `SELECT pg_stat_get_xact_tuples_hot_updated('run_attempts'::regclass)::int AS in_place`,
    )
    await client.query('ROLLBACK')
    client.release()
    expect(rows).toEqual([{ in_place: 1 }])
  })
})
