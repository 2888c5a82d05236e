/**
 * Admission: the way in for runs that something limits. One transaction of several statements, for a whole batch:
 *
 * 1. the rules that may concern the batch are read, and advisory locks taken, one for each thing that is counted, in sorted order (`begin`);
 * 2. in the next statements, on snapshots taken under those locks, each part reads what it needs (`AdmissionPart.read`);
 * 3. each part judges each run, in order; a run is admitted when none refuses it (`Judge.decide`, then `Judge.take`);
 * 4. the admitted runs are created, and each part writes its rows for those that were (`Judge.write`). The caller commits.
 *
 * Only admission takes these locks, and it takes them before any name, slot or row. So whoever holds a name never waits for such a lock,
 * and nobody waits in a circle. A run whose name was taken meanwhile is not created and consumes nothing.
 *
 * To plug in: write an `AdmissionPart` and add it to `ADMISSION_PARTS` in `admission-parts.ts`.
 */

import type pg from 'pg'
import { BLOCKED_UNTIL, type BlockReason } from '../run/blocked.ts'
import { Refusal } from '../run/errors.ts'
import type { QuotaRule, QuotaWarning } from '../run/quota.ts'
import type { RefusedOwner, Warned } from '../run/quota-facts.ts'
import { announceQuotas } from './announce-quotas.ts'
import { insertRuns } from './insert-runs.ts'
import { isLockTimeout } from './pg-errors.ts'
import type { LimitUsage } from './ports/quotas.ts'
import { readRules } from './quota-rules.ts'
import { runOfNew } from './run-row.ts'
import type { NewRun, Submitted } from './store.ts'

/** Why a run is created and not let go: PENDING, with `available_at` far away. The part that writes blocks keeps the time it asked for. */
export type Block = { reason: BlockReason; detail: Record<string, unknown> }

/** The reservation that the run consumes; it was checked, and is consumed by the part that answered it. */
export type UsedReservation = { id: string; model: string | null; cost: number | null }

export type Verdict =
  | { refuse: Refusal }
  | { admit: true; warnings?: QuotaWarning[]; blocks?: Block[]; reservation?: UsedReservation }

export type AdmittedRun = {
  run: NewRun
  warnings: QuotaWarning[]
  blocks: Block[]
  reservation: UsedReservation | null
}

/** What a part knows about one batch, under the locks. */
export type Judge = {
  /** In the order of the batch. Changes nothing; `admitted` is what parts before this one made of the run. */
  decide(run: NewRun, admitted: AdmittedRun): Verdict
  /** All parts have agreed: from now on this run counts. */
  take?(run: AdmittedRun): void
  /** For the runs that were created, in the same transaction. False undoes everything; the batch is tried again then. */
  write?(client: pg.ClientBase, created: AdmittedRun[]): Promise<boolean | undefined>
  /** After the transaction: adds to refusals of its own what only helps people, such as who holds the places. */
  explain?(db: pg.Pool, refused: Refused[]): Promise<void>
}

export type Refused = { run: NewRun; refusal: Refusal }

export type Judged = { runs: readonly NewRun[]; rules: readonly QuotaRule[] }

export type AdmissionPart = {
  name: string
  /** Whether a run needs admission for this part, even when no rule concerns it. Pure and cheap: every submit asks. */
  concerns(run: NewRun): boolean
  /** What is counted for this run, as texts; whoever counts the same must name the same. `rules` are those that may concern the batch. */
  locks(run: NewRun, rules: readonly QuotaRule[]): string[]
  /** Null when there is nothing to judge in this batch. A reservation is judged like a run, and not written by parts. */
  read(client: pg.ClientBase, batch: Judged): Promise<Judge | null>
  /** For people: how much is used of the limits of this part that apply to runs of this owner (and model, '' for any). */
  usage?(db: pg.Pool, scope: { owner: string; model: string }, rules: readonly QuotaRule[]): Promise<LimitUsage[]>
}

/** Of our advisory locks; the other half of the number is what is counted. */
const LOCK_CLASS = 4618

/** Sorted by what is locked, since several texts may share a number. The second setting is for what comes after the locks. */
const LOCK = `
WITH patience AS MATERIALIZED (
  SELECT set_config('lock_timeout', $2, true)
), locked AS MATERIALIZED (
  SELECT pg_advisory_xact_lock(${LOCK_CLASS}, place) FROM patience
    CROSS JOIN (SELECT DISTINCT hashtext(name) AS place FROM unnest($1::text[]) AS n(name) ORDER BY 1) AS sorted
)
SELECT count(*), set_config('lock_timeout', $3, true) FROM locked`

/** How long for others in admission, and how long for names and rows afterwards, while others wait for us. */
export type Patience = { lockMs: number; nameMs: number }

export type Begun = { rules: readonly QuotaRule[] }

export type Judgement = { admitted: AdmittedRun[]; refused: (Refused & { judge: Judge })[]; judges: Judge[] }

export type Outcome = {
  created: Map<NewRun, Submitted>
  refused: Judgement['refused']
  /** Admitted, and not created: a name was taken meanwhile. */
  taken: NewRun[]
}

export type Admission = ReturnType<typeof createAdmission>

export function createAdmission(parts: readonly AdmissionPart[]) {
  /** The first statements of a transaction. Throws a Refusal when others take too long. */
  async function begin(client: pg.ClientBase, runs: readonly NewRun[], { lockMs, nameMs }: Patience): Promise<Begun> {
    const rules = await readRules(client, runs)
    const names = new Set(parts.flatMap((part) => runs.flatMap((run) => part.locks(run, rules))))
    const values = [[...names], `${lockMs}ms`, `${nameMs}ms`]
    await client.query({ name: 'lock_admission', text: LOCK, values }).catch(asBusy)
    return { rules }
  }

  async function judge(client: pg.ClientBase, runs: readonly NewRun[], { rules }: Begun): Promise<Judgement> {
    const judges: Judge[] = []
    for (const part of parts) {
      const one = await part.read(client, { runs, rules })
      if (one) judges.push(one)
    }
    const judgement: Judgement = { admitted: [], refused: [], judges }
    for (const run of runs) {
      const admitted = { run, warnings: [], blocks: [], reservation: null }
      const refusing = firstRefusal(judges, admitted)
      if (refusing) judgement.refused.push({ run, ...refusing })
      else {
        for (const one of judges) one.take?.(admitted)
        judgement.admitted.push(admitted)
      }
    }
    return judgement
  }

  /** Null: nothing can be said, undo everything and begin again. */
  async function admit(
    client: pg.ClientBase,
    runs: readonly NewRun[],
    begun: Begun,
    laneOf: (run: NewRun) => number,
  ): Promise<Outcome | null> {
    const { admitted, refused, judges } = await judge(client, runs, begun)
    const outcome: Outcome = { created: new Map(), refused, taken: [] }
    if (admitted.length === 0) {
      await announceQuotas(client, { refused: refused.map(ofOwner) })
      return outcome
    }
    const inserts = admitted.map(asInserted)
    const { createdAtMs, isCreated } = await insertRuns(client, inserts, laneOf, { isAdmitted: true })
    const created = admitted.filter(({ run }) => isCreated(run))
    outcome.taken = admitted.filter(({ run }) => !isCreated(run)).map(({ run }) => run)
    // One that took no place may be the reason why another was refused.
    if (outcome.taken.length > 0 && refused.length > 0) return null
    for (const one of judges) if (created.length > 0 && (await one.write?.(client, created)) === false) return null
    for (const one of created) outcome.created.set(one.run, submittedOf(one, createdAtMs))
    await announceQuotas(client, { warned: created.map(warnedOf), refused: refused.map(ofOwner) })
    return outcome
  }

  return { begin, judge, admit, concerns: (run: NewRun) => parts.some((part) => part.concerns(run)) }
}

function asBusy(cause: unknown): never {
  if (!isLockTimeout(cause)) throw cause
  throw new Refusal('busy', 'Other requests that count against the same quota are still being admitted.', { cause })
}

/** Told to people; a failure leaves it out. */
export async function explainRefusals(db: pg.Pool, refused: Judgement['refused']): Promise<void> {
  for (const judge of new Set(refused.map((one) => one.judge))) {
    const own = refused.filter((one) => one.judge === judge)
    await judge.explain?.(db, own).catch(() => {})
  }
}

function firstRefusal(judges: readonly Judge[], admitted: AdmittedRun): { refusal: Refusal; judge: Judge } | null {
  for (const judge of judges) {
    const verdict = judge.decide(admitted.run, admitted)
    if ('refuse' in verdict) return { refusal: verdict.refuse, judge }
    admitted.warnings.push(...(verdict.warnings ?? []))
    admitted.blocks.push(...(verdict.blocks ?? []))
    admitted.reservation ??= verdict.reservation ?? null
  }
  return null
}

export function warnedOf({ run, warnings }: AdmittedRun): Warned {
  return { owner: run.owner, warnings }
}

function ofOwner({ run, refusal }: Refused): RefusedOwner {
  return { owner: run.owner, refusal }
}

function asInserted({ run, blocks }: AdmittedRun): NewRun {
  return blocks.length > 0 ? { ...run, availableAt: BLOCKED_UNTIL.toISOString() } : run
}

function submittedOf(admitted: AdmittedRun, createdAtMs: number): Submitted {
  const { availableAt } = asInserted(admitted)
  const etaMs = availableAt === null ? 0 : Date.parse(availableAt)
  const run = runOfNew(admitted.run, new Date(createdAtMs), new Date(Math.max(etaMs, createdAtMs)))
  const { warnings } = admitted
  return { run, idempotentHit: false, ...(warnings.length > 0 && { warnings }) }
}
