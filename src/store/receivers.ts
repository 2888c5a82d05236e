/** The verbs of receivers, bound to their pool. */

import type pg from 'pg'
import { addWebhook } from './add-webhook.ts'
import { changeWebhook } from './change-webhook.ts'
import { disable } from './disable-receiver.ts'
import { findAddress, findWebhook, listAddresses, listWebhooks } from './list-receivers.ts'
import type { Receivers } from './ports/receivers.ts'
import { putAddress } from './put-address.ts'
import { removeReceiver } from './remove-receiver.ts'
import { rotateSecret } from './rotate-secret.ts'
import { setStream } from './set-stream.ts'
import { unsubscribe } from './unsubscribe.ts'

type Answered = <T>(asked: Promise<T>) => Promise<T>

export function createReceivers(pool: pg.Pool, answered: Answered): Receivers {
  return {
    addWebhook: (webhook) => answered(addWebhook(pool, webhook)),
    listWebhooks: (filter) => answered(listWebhooks(pool, filter)),
    findWebhook: (id, owner) => answered(findWebhook(pool, id, owner)),
    changeWebhook: (id, owner, change) => answered(changeWebhook(pool, id, owner, change)),
    rotateSecret: (id, owner, secret, seconds) => answered(rotateSecret(pool, id, owner, secret, seconds)),
    removeWebhook: (id, owner) => answered(removeReceiver(pool, id, owner, 'webhook')),
    putAddress: (address) => answered(putAddress(pool, address)),
    listAddresses: (filter) => answered(listAddresses(pool, filter)),
    findAddress: (id, owner) => answered(findAddress(pool, id, owner)),
    removeAddress: (id, owner) => answered(removeReceiver(pool, id, owner, 'mail')),
    unsubscribe: (id, kind) => answered(unsubscribe(pool, id, kind)),
    setStream: (kinds) => answered(setStream(pool, kinds)),
    disable: (id, reason) => answered(disable(pool, id, reason)),
  }
}
