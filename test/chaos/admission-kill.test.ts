/**
 * A process killed between any two statements of reserve, submit, consume, release, approve and upload, and right after sending each.
 *
 * Whatever it was doing is there as a whole or not at all, from the moment its connections are gone: no place is lost for longer than its
 * reservation lives, none is counted twice, and whoever repeats the request gets what there would be if nothing had happened.
 */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { KillPoint, Reached } from '../fixtures/dies-at-statements.ts'
import { key, newRun } from '../support/new-run.ts'
import { acceptedUpload, newUpload } from '../support/new-upload.ts'
import { openPlace, type Place } from '../support/processes.ts'
import { putRule } from '../support/quotas.ts'
import { accepted, openTestStore, type TestStore } from '../support/store.ts'
import { until } from '../support/until.ts'

const SCRIPT = new URL('../fixtures/dies-at-statements.ts', import.meta.url)
/** Its runs wait for approval. */
const GATED = 'gated'
const TTL_SECONDS = 300
const WHENS = ['before', 'sent'] as const
/** Killed together, each with a few connections of its own. */
const POINTS_MAX = 50

type State = Record<string, unknown>
type Call = Pick<KillPoint, 'verb' | 'args'>
type Act = {
  /** What there is before, and the call that is cut. Everything belongs to the owner. */
  prepare(owner: string): Promise<Call>
  /** The statement that makes it true. */
  decides: RegExp
  /** What there is then, as far as it belongs to it. */
  makes: State
  /** By another process; ends as if nothing had happened. */
  repeat?(owner: string, call: Call): Promise<void>
}

let t: TestStore
let place: Place
beforeAll(async () => {
  t = await openTestStore('18')
  place = await openPlace()
  // For each owner by itself.
  await putRule(t.store, { max_concurrent: 1, runs_per_day: 2 })
  await putRule(t.store, { model: GATED, max_concurrent: 0, action: 'require_approval' })
})
afterAll(async () => {
  await place.close()
  await t.close()
})

const ids = new Map<string, string>()
/** The same one each time. */
const reservationOf = (owner: string) => {
  const id = ids.get(owner) ?? randomUUID()
  ids.set(owner, id)
  return { id, owner, model: null, ttlSeconds: TTL_SECONDS, cost: null }
}
const decisionOf = (runId: string) => ({
  runId,
  actor: { tokenId: null, owner: 'ops', requestId: null },
  reason: null,
  sees: null,
})

/** A key that another owner has runs of, a cost, and a name: as much as a submit can write. */
function fullRun(owner: string) {
  return newRun({
    owner,
    model: `model of ${owner}`,
    parameters: { owner },
    key: key('once'),
    reservationId: reservationOf(owner).id,
    cost: { estimate: 2, ratePerSecond: null, onFailure: 'actual', onCancel: 'actual', currency: null },
    concurrency: { owner: '', key: owner, limit: 1, mode: 'cancel_older' },
  })
}
const plainRun = (owner: string) =>
  newRun({ owner, model: `model of ${owner}`, parameters: { owner }, key: key('once') })
const upload = (owner: string) => newUpload({ owner, model: `model of ${owner}`, text: owner, key: 'once' })

const ACTS: Record<string, Act> = {
  reserve: {
    prepare: async (owner) => ({ verb: 'reservations.reserve', args: [reservationOf(owner)] }),
    makes: { reservations: 'ACTIVE', used: [1, 1] },
    decides: /^COMMIT$/,
  },
  submit: {
    prepare: async (owner) => ({ verb: 'submit', args: [plainRun(owner)] }),
    makes: { runs: 1, holds: 1, names: 1, used: [1, 1] },
    decides: /^COMMIT$/,
    repeat: async (owner) => void accepted(await t.store.submit(plainRun(owner))),
  },
  consume: {
    async prepare(owner) {
      const { concurrency } = fullRun(owner)
      await t.add({ owner: `${owner} older`, model: `model of ${owner}`, ...(concurrency && { concurrency }) })
      await t.store.reservations.reserve(reservationOf(owner))
      return { verb: 'submit', args: [fullRun(owner)] }
    },
    makes: {
      runs: 1,
      holds: 1,
      names: 1,
      reservations: 'CONSUMED by it',
      costs: 1,
      ledger: 1,
      keys: ['held'],
      events: ['created', 'unblocked'],
      older: ['CANCELLED'],
      used: [1, 1],
    },
    decides: /^COMMIT$/,
    repeat: async (owner) => void accepted(await t.store.submit(fullRun(owner))),
  },
  release: {
    async prepare(owner) {
      await t.store.reservations.reserve(reservationOf(owner))
      return { verb: 'reservations.release', args: [reservationOf(owner).id, owner] }
    },
    makes: { reservations: 'RELEASED', used: [0, 0] },
    decides: /SET state = 'RELEASED'/,
    async repeat(owner) {
      const answer = await t.store.reservations.release(reservationOf(owner).id, owner)
      expect(answer).toMatchObject({ outcome: 'released' })
    },
  },
  approve: {
    async prepare(owner) {
      const run = await t.add({ owner, model: GATED, concurrency: { owner, key: 'one', limit: 1, mode: 'queue' } })
      return { verb: 'blocks.approve', args: [decisionOf(run.id)] }
    },
    makes: { runs: 1, holds: 1, keys: ['held'], events: ['created', 'approved', 'unblocked'], used: [1, 1] },
    decides: /^COMMIT$/,
    async repeat(_, { args }) {
      const answer = await t.store.blocks.approve(args[0] as ReturnType<typeof decisionOf>)
      expect(answer).toMatchObject({ outcome: 'done' })
    },
  },
  upload: {
    prepare: async (owner) => ({ verb: 'files.accept', args: [upload(owner)] }),
    makes: { runs: 1, holds: 1, uploads: 1, used: [1, 1] },
    decides: /^COMMIT$/,
    repeat: async (owner) => void acceptedUpload(await t.store.files.accept(upload(owner))),
  },
}

const NOTHING: State = {
  runs: 0,
  holds: 0,
  orphans: 0,
  costs: 0,
  ledger: 0,
  uploads: 0,
  reservations: '',
  keys: [],
  blocks: [],
}

/** Everything an owner has, without the ids, and what is counted of it. */
async function stateOf(owner: string): Promise<State> {
  const [row] = await t.database.query(
    `SELECT (SELECT count(*) FROM model_runs WHERE owner = $1) AS runs,
       (SELECT count(*) FROM quota_holds h WHERE owner = $1 AND EXISTS (SELECT FROM model_runs r WHERE r.id = h.run_id)) AS holds,
       (SELECT count(*) FROM quota_holds h WHERE owner = $1 AND NOT EXISTS (SELECT FROM model_runs r WHERE r.id = h.run_id)) AS orphans,
       (SELECT count(*) FROM idempotency_keys WHERE owner = $1) AS names,
       (SELECT count(*) FROM cost_ledger l JOIN model_runs r ON r.id = l.run_id WHERE l.owner = $1 AND l.state = 'HELD') AS costs,
       (SELECT count(*) FROM cost_ledger WHERE owner = $1) AS ledger,
       ARRAY(SELECT state || CASE WHEN run_id IS NOT NULL THEN ' by ' || (SELECT owner FROM model_runs r WHERE r.id = v.run_id) ELSE '' END
         FROM quota_reservations v WHERE owner = $1) AS reservations,
       ARRAY(SELECT h.state FROM concurrency_holds h JOIN model_runs r ON r.id = h.run_id WHERE r.owner = $1) AS keys,
       ARRAY(SELECT b.reason FROM run_blocks b JOIN model_runs r ON r.id = b.run_id WHERE r.owner = $1) AS blocks,
       ARRAY(SELECT e.type FROM run_events e JOIN model_runs r ON r.id = e.run_id WHERE r.owner = $1 ORDER BY e.seq) AS events,
       ARRAY(SELECT status::text FROM model_runs WHERE owner = $1 || ' older') AS older,
       (SELECT count(*) FROM file_uploads WHERE owner = $1) AS uploads`,
    [owner],
  )
  const usage = await t.store.quotas.usage({ owner, model: '' })
  return { ...row, used: usage.map(({ used }) => used), reservations: `${row!.reservations}`.replaceAll(owner, 'it') }
}

/** Answers how far each has come, when the process and all its connections are gone. */
async function kill(points: KillPoint[]): Promise<Reached[]> {
  const child = place.runScript(SCRIPT, [t.database.url, JSON.stringify(points)])
  const { reached } = (await child.says('dies', 45_000)) as unknown as { reached: Reached[] }
  expect(await child.exited).toMatchObject({ signal: 'SIGKILL' })
  const open = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'kill-%'`
  await until(async () => (await t.database.query(open)).length === 0, { what: 'its connections are gone', everyMs: 5 })
  return reached
}

async function pointOf(act: string, statement: number | null, when: KillPoint['when']): Promise<KillPoint> {
  const name = `kill-${act}-${statement ?? 'end'}-${when}`
  return { name, statement, when, ...(await ACTS[act]!.prepare(name)) }
}

/** `decisive`: the number of the statement that makes it true. */
type Walk = { statements: string[]; decisive: number; before: State; after: State; points: KillPoint[] }

/** Those that are let through tell which statements there are, and die before anybody hears that they have done it. */
async function walkThrough(): Promise<Map<string, Walk>> {
  const through = await Promise.all(Object.keys(ACTS).map((act) => pointOf(act, null, 'before')))
  const before = await Promise.all(through.map(({ name }) => stateOf(name)))
  const reached = await kill(through)
  const after = await Promise.all(through.map(({ name }) => stateOf(name)))
  return new Map(
    Object.entries(ACTS).map(([act, { decides }], no) => {
      const { statements } = reached[no]!
      const decisive = statements.findLastIndex((text) => decides.test(text)) + 1
      return [act, { statements, decisive, before: before[no]!, after: after[no]!, points: [through[no]!] }]
    }),
  )
}

let walks: Map<string, Walk>
beforeAll(async () => {
  walks = await walkThrough()
  const wanted = [...walks].flatMap(([act, { statements }]) =>
    statements.flatMap((text, index) => WHENS.map((when) => ({ act, text, statement: index + 1, when }))),
  )
  for (let from = 0; from < wanted.length; from += POINTS_MAX) {
    const some = wanted.slice(from, from + POINTS_MAX)
    const points = await Promise.all(some.map(({ act, statement, when }) => pointOf(act, statement, when)))
    const reached = await kill(points)
    expect(reached.map(({ statements }) => statements.at(-1))).toEqual(some.map(({ text }) => text))
    for (const [no, { act }] of some.entries()) walks.get(act)!.points.push(points[no]!)
  }
}, 120_000)

it.each(Object.keys(ACTS))('%s, killed anywhere: all or nothing, and a repeat makes it whole', async (act) => {
  const { statements, decisive, before, after, points } = walks.get(act)!
  expect(decisive).toBeGreaterThan(0)
  expect(before).not.toEqual(after)
  expect(after).toMatchObject({ ...NOTHING, ...ACTS[act]!.makes })
  await Promise.all(
    points.map(async ({ name, statement, when, ...call }) => {
      const where = statement === null ? 'at the end' : `${when} ${statement}: ${statements[statement - 1]}`
      const isDone = statement === null || statement > decisive || (statement === decisive && when === 'sent')
      expect(await stateOf(name), where).toEqual(isDone ? after : before)
      await ACTS[act]!.repeat?.(name, call)
      if (ACTS[act]!.repeat) expect(await stateOf(name), `${where}, repeated`).toEqual(after)
    }),
  )
})

it('every run that is there is counted', async () => {
  expect(await t.store.quotas.check()).toEqual([])
})

// Of one that nobody has heard of there is no repeat: its place is free when it has expired, and not sooner lost.
it('reserve, killed anywhere: the place can be had again when the time is over', async () => {
  await t.database.shiftClock(`${TTL_SECONDS + 1} seconds`)
  onTestFinished(() => t.database.shiftClock('0'))
  await Promise.all(
    walks.get('reserve')!.points.map(async ({ name }) => {
      expect((await stateOf(name)).used, name).toEqual([0, 0])
      const again = await t.store.reservations.reserve({ ...reservationOf(name), id: randomUUID() })
      expect(again, name).toMatchObject({ reservation: { state: 'ACTIVE' } })
      expect((await stateOf(name)).used, name).toEqual([1, 1])
    }),
  )
})
