/** `holdfast reservation list`: who holds places of quotas before there are runs, straight from the database. */

import type { Command } from 'commander'
import { presentReservation } from '../../api/present-quota.ts'
import { type ReservationObject, ReservationState } from '../../contract/reservation.ts'
import type { Reservation } from '../../store/ports/reservations.ts'
import { withStore } from '../database.ts'
import { table } from '../table.ts'

const SHOWN_MAX = 200

type ListOptions = { owner?: string; state?: string; json?: boolean }

export function addReservation(program: Command): void {
  const reservation = program.command('reservation').description('look at reservations, straight on the database')
  reservation
    .command('list')
    .description(`show the newest reservations, up to ${SHOWN_MAX}`)
    .option('--owner <name>', 'only those of one owner')
    .option('--state <state>', 'ACTIVE, CONSUMED, RELEASED or EXPIRED')
    .option('--json', 'print JSON')
    .action(list)
}

async function list({ owner, state, json }: ListOptions): Promise<void> {
  const wanted = ReservationState.optional().safeParse(state?.toUpperCase())
  if (!wanted.success) throw new Error('--state must be ACTIVE, CONSUMED, RELEASED or EXPIRED')
  await withStore(async (store) => {
    const filter = { owner: owner ?? null, state: wanted.data ?? null, limit: SHOWN_MAX, cursor: null }
    const { reservations } = await store.reservations.list(filter)
    process.stdout.write(`${json ? JSON.stringify(reservations.map(presentReservation)) : textOf(reservations)}\n`)
  })
}

function textOf(reservations: Reservation[]): string {
  if (reservations.length === 0) return 'There are no reservations.'
  const rows = reservations.map(presentReservation).map(rowOf)
  return table([['ID', 'OWNER', 'MODEL', 'STATE', 'EXPIRES', 'RUN'], ...rows])
}

function rowOf(one: ReservationObject): string[] {
  return [one.reservation_id, one.owner, one.model ?? '-', one.state, one.expires_at, one.run_id ?? '-']
}
