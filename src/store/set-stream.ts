/**
 * The one stream there is, as the configuration wants it. Every relay that starts says so; saying it again changes nothing. One that is
 * not wanted any more is disabled and what waits for it kept: a relay that was started without the setting by mistake loses nothing that is written down.
 */

import type pg from 'pg'
import type { FactKind } from '../run/fact-kinds.ts'
import { disable } from './disable-receiver.ts'
import { inTransaction } from './in-transaction.ts'
import { refreshDue } from './refresh-due.ts'
import { wantEvents } from './want-events.ts'

export const STREAM_ID = '00000000-0000-8000-8000-000000000001'

/** Entries of a stream are short and the server is near. */
const SLOTS = 100

const EVERYONE = '*'

const SET = `
INSERT INTO receivers (id, channel, owner, kinds, slots, created_at, created_by)
VALUES ($1, 'stream', '${EVERYONE}', $2, ${SLOTS}, clock(), 'configuration')
ON CONFLICT (id) DO UPDATE SET kinds = excluded.kinds, slots = excluded.slots, is_enabled = true, disabled_reason = NULL`

export async function setStream(pool: pg.Pool, kinds: FactKind[]): Promise<boolean> {
  if (kinds.length === 0) return disable(pool, STREAM_ID, 'HOLDFAST_STREAM is not set')
  await inTransaction(pool, async (client) => {
    await client.query(SET, [STREAM_ID, kinds])
    await wantEvents(client, { id: STREAM_ID, owner: EVERYONE, kinds, isEnabled: true })
    await refreshDue(client, [STREAM_ID])
    return true
  })
  return false
}
