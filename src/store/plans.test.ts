/**
 * No statement of the store reads history. Every verb runs on a pool that explains what it sends: on empty tables, where generic plans
 * are made that later meet full ones, on small analysed ones, and on tables full of finished, unwanted and future runs, analysed while
 * nothing was running. There the rows and blocks that were looked at are counted as well.
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { type Explained, type ExplainingPool, openExplainingPool, rowsRead } from '../../test/support/explain.ts'
import { fillHistory } from '../../test/support/fill-history.ts'
import { key, newRun, slot } from '../../test/support/new-run.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { settlementOf, WORKER } from '../../test/support/store.ts'
import { createAdopt } from './adopt.ts'
import { appendLogs } from './append-logs.ts'
import { cancelRun } from './cancel.ts'
import { createClaim } from './claim.ts'
import { deleteExpiredKeys } from './clean-keys.ts'
import { beat } from './heartbeat.ts'
import { jobOutcomes } from './keep-job-outcome.ts'
import { createOverdue } from './overdue.ts'
import { saveProgress } from './progress.ts'
import { queueDepths } from './queues.ts'
import { readResult, readRun } from './read-run.ts'
import { confirmOverdueCancels, createReclaim } from './reclaim.ts'
import { createSettle } from './settle.ts'
import type { Lease, NewRun } from './store.ts'
import { createSubmit } from './submit.ts'

const HISTORY = ['model_runs', 'run_attempts', 'run_events', 'run_results', 'idempotency_keys', 'payload_slots']
const RUNS = 100

/** Which indexes of the big tables a verb may use. */
const INDEXES: Record<string, string[]> = {
  submit: ['idempotency_keys_pkey', 'payload_slots_pkey', 'model_runs_pkey'],
  'submit again': ['idempotency_keys_pkey', 'payload_slots_pkey', 'model_runs_pkey'],
  'submit one': ['idempotency_keys_pkey', 'payload_slots_pkey', 'model_runs_pkey'],
  'submit one again': ['idempotency_keys_pkey', 'payload_slots_pkey', 'model_runs_pkey'],
  claim: ['idx_runs_ready', 'model_runs_pkey'],
  beat: ['model_runs_pkey'],
  progress: ['run_attempts_pkey'],
  cancel: ['model_runs_pkey'],
  settle: ['model_runs_pkey', 'run_attempts_pkey'],
  'settle late': ['model_runs_pkey', 'run_attempts_pkey'],
  'settle found': ['model_runs_pkey', 'run_attempts_pkey'],
  'flag overdue': ['idx_runs_lease_expires', 'model_runs_pkey', 'run_attempts_pkey'],
  'forget overdue': ['model_runs_pkey'],
  reclaim: ['idx_runs_lease_expires', 'model_runs_pkey', 'run_attempts_pkey'],
  'confirm cancels': ['idx_runs_cancelling', 'model_runs_pkey', 'run_attempts_pkey'],
  adopt: ['idx_runs_lease_expires', 'model_runs_pkey', 'run_attempts_pkey'],
  'append logs': ['run_attempts_pkey'],
  job_outcomes: ['run_attempts_pkey'],
  'clean keys': [
    'idx_idempotency_expires',
    'idempotency_keys_pkey',
    'idx_slots_expires',
    'payload_slots_pkey',
    'model_runs_pkey',
  ],
  read: ['model_runs_pkey', 'run_attempts_pkey', 'run_results_pkey'],
  'read waiting': ['model_runs_pkey', 'run_attempts_pkey', 'idx_runs_ready', 'idx_runs_lease_expires'],
  depths: ['idx_runs_ready'],
}
const ON_READ_POOL = ['read', 'read waiting', 'depths']

/**
 * Blocks a verb may look at per run it is about. They look at 6 to 100, a few more where an autovacuum passes by or an index has just
 * split; a scan of the runs alone would be 200.
 */
const BLOCKS_PER_RUN_MAX = 150
const COUNTED = [
  'submit',
  'submit again',
  'submit one',
  'submit one again',
  'claim',
  'beat',
  'progress',
  'cancel',
  'settle',
  'settle late',
  'settle found',
  'flag overdue',
  'forget overdue',
  'reclaim',
  'confirm cancels',
  'adopt',
  'append logs',
  'clean keys',
]

type Verbs = Map<string, { statements: Explained[]; runs: number }>

/** Uses every verb once, on runs of its own, and keeps what each sent. */
async function useAll(database: TestDatabase, hot: ExplainingPool, reads: ExplainingPool): Promise<Verbs> {
  const verbs: Verbs = new Map()
  async function use<T>(verb: string, runs: number, work: Promise<T>): Promise<T> {
    const result = await work
    verbs.set(verb, { statements: [...hot.take(), ...reads.take()], runs })
    return result
  }

  const submit = createSubmit({ batchPool: hot, singlePool: hot })
  await submit.many([newRun()])
  hot.take()
  const asked = Array.from({ length: RUNS }, (_, no) => newRun(no % 2 ? { key: key(`plan-${no}`) } : { slot: slot() }))
  const again = asked.map((run): NewRun => ({ ...newRun(run), id: newRun().id }))
  await use('submit', RUNS, submit.many(asked))
  await use('submit again', RUNS, submit.many(again))
  // Once before: what a connection reads when it prepares a statement is not the statement's.
  await submit.one(newRun({ key: key('plan-first'), slot: slot() }))
  hot.take()
  const one = newRun({ key: key('plan-one'), slot: slot() })
  await use('submit one', 1, submit.one(one))
  await use('submit one again', 1, submit.one({ ...one, id: newRun().id }))
  await submit.many(Array.from({ length: 5 * RUNS }, () => newRun()))
  hot.take()

  const offer = {
    queues: [{ queue: 'default', room: RUNS }],
    models: [{ model: 'forecast', version: '1', room: RUNS }],
  }
  const claim = (leaseMs: number): Promise<Lease[]> =>
    createClaim({ pool: hot })({ workerId: WORKER, leaseMs, slots: RUNS, ...offer })
  const held = await use('claim', RUNS, claim(60_000))
  expect(held).toHaveLength(RUNS)
  await use('beat', RUNS, beat(hot, { workerId: WORKER, leaseMs: 60_000, deadlineGraceMs: 0, leases: held }))
  await use(
    'progress',
    RUNS,
    saveProgress(
      hot,
      held.map((lease) => ({ ...lease, progress: 1 })),
    ),
  )
  const pieces = [{ stream: 'stdout' as const, text: 'a line' }]
  await use(
    'append logs',
    RUNS,
    appendLogs(
      hot,
      held.map((fence) => ({ fence, pieces })),
    ),
  )
  await use('job_outcomes', RUNS, jobOutcomes(hot, held))
  await use('cancel', 1, cancelRun(hot, held[0]!.runId))
  const { settle } = createSettle({ pool: hot })
  const settleAll = (leases: Lease[]) => Promise.all(leases.map((lease) => settle(settlementOf(lease, 'succeed'))))
  const quick = await claim(60_000)
  hot.take()
  await use('settle', RUNS, settleAll(quick))
  // The heartbeat has moved their rows.
  await use('settle moved', RUNS, settleAll(held))
  await use('settle late', RUNS, Promise.all(held.map((lease) => settle(settlementOf(lease, 'fail')))))

  const slow = await claim(60_000)
  await database.query('UPDATE model_runs SET expected_seconds = 0.0001 WHERE id = ANY($1)', [
    slow.map(({ runId }) => runId),
  ])
  hot.take()
  const overdue = createOverdue(hot, (asked) => asked)
  expect(await use('flag overdue', RUNS, overdue.flag(RUNS))).toHaveLength(RUNS)
  const facets = [{ name: 'language', value: 'fr' }]
  const found = { facets, places: [{ latitude: 1, longitude: 2, label: null, fileId: null }] }
  const settleFound = Promise.all(slow.map((lease) => settle(settlementOf(lease, 'succeed', { found }))))
  await use('settle found', RUNS, settleFound)
  expect(await use('forget overdue', RUNS, overdue.forget(RUNS))).toBe(RUNS)

  const cancelled = await claim(60_000)
  await database.query('UPDATE model_runs SET cancel_requested_at = clock() WHERE id = ANY($1)', [
    cancelled.map(({ runId }) => runId),
  ])
  hot.take()
  await use('confirm cancels', RUNS, confirmOverdueCancels(hot, { afterMs: 0, limit: RUNS }))
  const lost = await claim(60_000)
  await database.query(`UPDATE model_runs SET lease_expires_at = clock() - interval '1 second' WHERE id = ANY($1)`, [
    lost.slice(0, RUNS / 2).map(({ runId }) => runId),
  ])
  hot.take()
  expect(await use('reclaim', RUNS / 2, createReclaim(hot)({ limit: RUNS }))).toHaveLength(RUNS / 2)
  const abandoned = lost.slice(RUNS / 2).map(({ runId }) => runId)
  await database.query(`UPDATE run_attempts SET external_ref = '{}' WHERE run_id = ANY($1)`, [abandoned])
  await database.query(`UPDATE model_runs SET lease_expires_at = clock() - interval '1 second' WHERE id = ANY($1)`, [
    abandoned,
  ])
  hot.take()
  const adopting = { workerId: 'worker-2', leaseMs: 60_000, executors: ['inline'], limit: RUNS }
  expect(await use('adopt', RUNS / 2, createAdopt(hot)(adopting))).toHaveLength(RUNS / 2)
  await use('clean keys', RUNS, deleteExpiredKeys(hot, RUNS))

  await use('read', 1, Promise.all([readRun({ reads }, held[0]!.runId), readResult(reads, held[0]!.runId)]))
  const [waiting] = await database.query<{ id: string }>(`SELECT id FROM model_runs WHERE status = 'PENDING' LIMIT 1`)
  await use('read waiting', 1, readRun({ reads, pinned: hot }, waiting!.id))
  await use('depths', 1, queueDepths(reads))
  return verbs
}

describe.each(postgresVersions)('plans on Postgres %s', (server) => {
  describe.each(['empty', 'small and analysed', 'full of history'])('of %s tables', (tables) => {
    let database: TestDatabase
    let verbs: Verbs
    const full = tables === 'full of history'

    beforeAll(async () => {
      database = await createTestDatabase({ server })
      // Once in full; on the other version a part of it shows the same plans in much less time.
      if (full) await fillHistory(database, server === postgresVersions[0] ? 2_000_000 : 150_000)
      const hot = await openExplainingPool({ url: database.url, name: 'hot', pinPlans: true })
      const reads = await openExplainingPool({ url: database.url, name: 'reads' })
      if (tables === 'small and analysed') {
        await useAll(database, hot, reads)
        await database.query('ANALYZE')
      }
      verbs = await useAll(database, hot, reads)
      await hot.close()
      await reads.close()
    }, 300_000)
    afterAll(() => database.drop())

    // A plan that is made for each read may scan a table of one page; a pinned one may not.
    const checked = Object.keys(INDEXES).filter((verb) => full || !ON_READ_POOL.includes(verb))

    it.each(checked)('%s finds its rows by index', (verb) => {
      for (const { nodes, text, mode } of verbs.get(verb)!.statements) {
        const scans = nodes.filter(
          (node) => HISTORY.includes(node['Relation Name'] ?? '') && node['Node Type'].includes('Scan'),
        )
        for (const scan of scans) expect(scan['Node Type'], `${mode} ${text}`).toMatch(/^(Index (Only )?|Tid )Scan$/)
        // A claim names the rows it has locked by their place, which needs no index.
        const indexes = new Set(scans.flatMap((scan) => scan['Index Name'] ?? []))
        expect(INDEXES[verb], text).toEqual(expect.arrayContaining([...indexes]))
      }
      expect(verbs.get(verb)!.statements).not.toEqual([])
    })

    it.each(['settle', 'beat', 'settle late'])('%s goes through its items in order and looks each run up', (verb) => {
      const loops = verbs
        .get(verb)!
        .statements.flatMap(({ nodes }) => nodes.filter((node) => node['Node Type'] === 'Nested Loop'))
      const sides = loops.map(({ Plans }) => [Plans![0]!['CTE Name'], Plans![1]!['Relation Name']])
      expect(sides).toContainEqual(['item', 'model_runs'])
    })

    it.each(['claim', 'settle', 'beat', 'reclaim', 'cancel', 'progress'])(
      '%s fires no trigger but the one of facts',
      (verb) => {
        const fired = verbs.get(verb)!.statements.flatMap(({ triggers }) => triggers)
        expect(fired.filter((trigger) => trigger !== 'events_announced')).toEqual([])
      },
    )

    if (!full) return

    it.each(COUNTED)('%s looks at few blocks and rows per run', (verb) => {
      const { statements, runs } = verbs.get(verb)!
      for (const statement of statements) {
        expect(statement.blocks / runs).toBeLessThan(BLOCKS_PER_RUN_MAX)
        for (const table of HISTORY) expect(rowsRead(statement, table) / runs, table).toBeLessThanOrEqual(4)
      }
    })

    it('a read of one run looks at few blocks', () => {
      for (const { blocks, text, mode } of [...verbs.get('read')!.statements, ...verbs.get('read waiting')!.statements])
        expect(blocks, `${mode} ${text}`).toBeLessThan(2_000)
    })
  })
})
