/**
 * Ids of deliveries that are made together: UUIDv7 that rise in the order they are asked for, so that what was first is
 * sent first.
 */

import { randomUUID } from 'node:crypto'

/** As many as fit behind one millisecond. */
const PER_MS = 0x1000

export function createDeliveryIds(nowMs: number = Date.now()): () => string {
  let made = 0
  return () => {
    const ms = (nowMs + Math.floor(made / PER_MS)).toString(16).padStart(12, '0')
    const no = (made % PER_MS).toString(16).padStart(3, '0')
    made += 1
    return `${ms.slice(0, 8)}-${ms.slice(8)}-7${no}${randomUUID().slice(18)}`
  }
}
