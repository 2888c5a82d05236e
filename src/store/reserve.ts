/**
 * Reserve: a place within the quotas, before there is a run. Judged by admission as a run would be, under the same locks, and written in the
 * same transaction. After a lost reply the reservation is looked for by its id; one that nobody hears of lapses by itself.
 */

import type pg from 'pg'
import { Refusal } from '../run/errors.ts'
import { isCostLimit, type LimitName, refusalText } from '../run/quota.ts'
import { type Admission, explainRefusals, type Judgement, warnedOf } from './admit.ts'
import { ALONE_PATIENCE } from './admit-batch.ts'
import { announceQuotas } from './announce-quotas.ts'
import { inTransaction } from './in-transaction.ts'
import {
  isConnectionLost,
  isSerializationFailure,
  isStatementTimeout,
  isUniqueViolation,
  unavailable,
} from './pg-errors.ts'
import type { NewReservation, Reserved } from './ports/reservations.ts'
import { RESERVATION_COLUMNS, type ReservationRow, reservationOfRow } from './reservation-row.ts'
import type { NewRun } from './store.ts'

const INSERT = `
INSERT INTO quota_reservations (reservation_id, owner, model, cost, created_at, expires_at)
VALUES ($1, $2, $3, $4, clock(), clock() + $5 * interval '1 second') RETURNING ${RESERVATION_COLUMNS}`

const FIND = `SELECT ${RESERVATION_COLUMNS} FROM quota_reservations WHERE reservation_id = $1 AND owner = $2`

export type ReserveOptions = { pool: pg.Pool; admission: Admission; retryForMs?: number }

export function createReserve({
  pool,
  admission,
  retryForMs = 10_000,
}: ReserveOptions): (wanted: NewReservation) => Promise<Reserved | Refusal> {
  async function known({ id, owner }: NewReservation): Promise<Reserved | null> {
    const { rows } = await pool.query<ReservationRow>(FIND, [id, owner])
    return rows[0] ? { reservation: reservationOfRow(rows[0]), warnings: [] } : null
  }

  async function tryOnce(wanted: NewReservation): Promise<Reserved | Refusal> {
    const answer = await inTransaction(pool, (client) => writeReservation(client, wanted, admission))
    if (answer && 'refused' in answer) {
      await explainRefusals(pool, answer.refused)
      return answer.refused[0]!.refusal
    }
    return answer!
  }

  return async (wanted) => {
    const giveUpAt = performance.now() + retryForMs
    let isLost = false
    for (let tries = 1; ; tries += 1) {
      try {
        const before = isLost ? await known(wanted) : null
        const answer = before ?? (await tryOnce(wanted))
        // The earlier sending may have been committed while this one waited for its locks.
        return (isLost && answer instanceof Refusal && (await known(wanted))) || answer
      } catch (error) {
        if (error instanceof Refusal) return error
        const isRepeated = isUniqueViolation(error, 'quota_reservations_pkey')
        const isOver = isConnectionLost(error) || isRepeated
        if (!isOver && !isSerializationFailure(error) && !isStatementTimeout(error)) throw error
        isLost ||= isOver
        if (performance.now() > giveUpAt) return unavailable(error)
      }
      await pause(Math.min(500, 10 * 2 ** tries))
    }
  }
}

/** The statements of one transaction. */
export async function writeReservation(
  client: pg.ClientBase,
  wanted: NewReservation,
  admission: Admission,
): Promise<Reserved | Pick<Judgement, 'refused'>> {
  const asked = [asRun(wanted)]
  const begun = await admission.begin(client, asked, ALONE_PATIENCE)
  const { admitted, refused, judges } = await admission.judge(client, asked, begun)
  const [place] = admitted
  // A place that somebody has to approve first cannot be promised.
  const [block] = place?.blocks ?? []
  if (block) refused.push({ run: place!.run, judge: judges[0]!, refusal: needsApproval(block.detail) })
  if (!place || block) {
    await announceQuotas(client, { refused: refused.map(({ refusal }) => ({ owner: wanted.owner, refusal })) })
    return { refused }
  }
  await announceQuotas(client, { warned: [warnedOf(place)] })
  const { id, owner, model, cost, ttlSeconds } = wanted
  const values = [id, owner, model, cost, ttlSeconds]
  const { rows } = await client.query<ReservationRow>({ name: 'insert_reservation', text: INSERT, values })
  return { reservation: reservationOfRow(rows[0]!), warnings: place.warnings }
}

function needsApproval(detail: Record<string, unknown>): Refusal {
  const { limit, maximum } = detail as { limit: LimitName; maximum: number }
  const code = isCostLimit(limit) ? 'cost-limit-exceeded' : 'quota-exceeded'
  return new Refusal(code, `${refusalText({ limit, maximum })} without approval`, { extra: { ...detail, holders: [] } })
}

/** What admission looks at of a run, and nothing that it would take for one with a name. */
function asRun({ id, owner, model, cost, seesAll }: NewReservation): NewRun {
  const asked: Partial<NewRun> = {
    id,
    owner,
    model: model ?? '',
    availableAt: null,
    key: null,
    slot: null,
    retryOf: null,
    ...(seesAll && { seesAll }),
  }
  if (cost !== null) {
    asked.cost = { estimate: cost, ratePerSecond: null, onFailure: 'actual', onCancel: 'actual', currency: null }
  }
  return asked as NewRun
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
