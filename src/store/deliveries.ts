/** The verbs of deliveries, bound to their pools. */

import type pg from 'pg'
import { claimDeliveries } from './claim-deliveries.ts'
import { findDelivery } from './find-delivery.ts'
import { listDeliveries } from './list-deliveries.ts'
import type { Deliveries } from './ports/deliveries.ts'
import { redeliver } from './redeliver.ts'
import { sendTest } from './send-test.ts'
import { settleDeliveries } from './settle-deliveries.ts'

type Answered = <T>(asked: Promise<T>) => Promise<T>

export function createDeliveries({ work, reads }: { work: pg.Pool; reads: pg.Pool }, answered: Answered): Deliveries {
  return {
    claim: (options) => claimDeliveries(work, options),
    settle: (sent) => settleDeliveries(work, sent),
    list: (filter) => answered(listDeliveries(reads, filter)),
    find: (id, owner) => answered(findDelivery(reads, id, owner)),
    redeliver: (id, owner, actor) => answered(redeliver(reads, id, owner, actor)),
    sendTest: (receiverId, owner, deliveryId) => answered(sendTest(reads, receiverId, owner, deliveryId)),
  }
}
