/** Quota facts, written down by admission in its own transaction; nothing is written as long as nobody wants them. */

import type pg from 'pg'
import { quotaFacts, type RefusedOwner, type Warned } from '../run/quota-facts.ts'
import { factColumns, wantedFacts } from './write-facts.ts'

// Sorted, since two who announce the same wait for each other.
const ANNOUNCE = wantedFacts(`f.id || '_' || floor(extract(epoch FROM clock()) / 60)::bigint`)

export async function announceQuotas(
  db: Pick<pg.ClientBase, 'query'>,
  { warned = [], refused = [] }: { warned?: readonly Warned[]; refused?: readonly RefusedOwner[] },
): Promise<void> {
  const facts = quotaFacts(warned, refused)
  if (facts.length === 0) return
  await db.query({ name: 'announce_quotas', text: ANNOUNCE, values: factColumns(facts) })
}
