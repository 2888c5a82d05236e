/**
 * Claims runs one by one after a statement for all of them has failed: a run whose rows are damaged makes the whole statement fail, and must
 * hold up nobody else.
 */

import type pg from 'pg'
import { ask, type Statement, type TextRow } from './ask.ts'
import { CLAIM_ONE_RUN } from './claim-statements.ts'
import { type ClaimedLease, claimedOfRow } from './claimed-lease.ts'
import type { Connections } from './kept-connection.ts'
import { isBadRow } from './pg-errors.ts'

/** Where a run stands in its lane, in microseconds: a Date would round it. */
export type Place = { id: string; lane: number; available_at_us: number }

/**
 * The rows of a claim or, when a damaged run makes it fail, the places of the runs it meant. Both on one connection: the locks of a failed
 * statement go a moment after its error has come, and until then another connection would skip its runs.
 */
export async function claimOrName(
  connections: Connections,
  { claim, pick, picking, how }: { claim: Statement; pick: string; picking: unknown[]; how: unknown[] },
): Promise<{ rows: TextRow[]; places?: never } | { rows?: never; places: Place[] }> {
  const client = await connections.take()
  let isBroken = true
  try {
    const rows = await ask(client, claim, [...picking, ...how]).catch(orNull)
    const found = rows ? { rows } : { places: (await client.query<Place>(pick, picking)).rows }
    isBroken = false
    return found
  } finally {
    connections.giveBack(client, isBroken)
  }
}

function orNull(error: unknown): null {
  if (isBadRow(error)) return null
  throw error
}

/** `how`: the last parameters of a claim. `passBy` is told of each damaged run. */
export async function claimOneByOne(
  pool: pg.Pool,
  places: Place[],
  how: unknown[],
  passBy: (place: Place) => void,
): Promise<ClaimedLease[]> {
  const claimed: ClaimedLease[] = []
  let damage: unknown
  for (const place of places) {
    try {
      const rows = await ask(pool, CLAIM_ONE_RUN, [place.id, ...how])
      claimed.push(...rows.map(claimedOfRow))
    } catch (error) {
      if (!isBadRow(error)) throw error
      damage = error
      passBy(place)
    }
  }
  // Nobody looks at runs that are never claimed, so the damage is told when nothing else is.
  if (claimed.length === 0 && damage) throw damage
  return claimed
}
