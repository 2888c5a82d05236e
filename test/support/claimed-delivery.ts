/** A delivery as a relay has claimed it, for tests of what is done with it. */

import { randomUUID } from 'node:crypto'
import type { ClaimedDelivery } from '../../src/store/ports/deliveries.ts'

export function claimedDelivery(changes: Partial<ClaimedDelivery> = {}): ClaimedDelivery {
  const id = randomUUID()
  return {
    id,
    receiverId: randomUUID(),
    channel: 'webhook',
    owner: 'alice',
    kind: 'run.succeeded',
    messageId: `message_${id}`,
    data: { type: 'run.succeeded', timestamp: '2026-03-01T12:00:00.000Z', data: {} },
    state: 'PENDING',
    createdAt: new Date(),
    availableAt: new Date(),
    attempts: 1,
    finishedAt: null,
    lastError: null,
    token: randomUUID(),
    tries: 0,
    to: { channel: 'webhook', url: 'https://example.org/hook', secret: 'whsec_c2VjcmV0', oldSecret: null },
    ...changes,
  }
}
