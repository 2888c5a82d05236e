/** Who hears of facts: webhooks, mail addresses and the stream. */

import type { FactKind, MailKind } from '../../run/fact-kinds.ts'

export type Channel = 'webhook' | 'mail' | 'stream'

export type Receiver = {
  id: string
  /** `*` for everybody's facts. */
  owner: string
  isEnabled: boolean
  disabledReason: string | null
  /** Sends that failed since the last one that worked. */
  failures: number
  createdAt: Date
  createdBy: string
}

/** `secret` is never listed: it is told when it is made, and to the sender. */
export type Webhook = Receiver & {
  url: string
  kinds: FactKind[]
  description: string | null
  oldSecretUntil: Date | null
}
export type WebhookSecrets = { secret: string; oldSecret: string | null }
export type MailAddress = Receiver & { address: string; kinds: MailKind[] }

export type NewWebhook = {
  id: string
  owner: string
  url: string
  kinds: FactKind[]
  description: string | null
  secret: string
  slots: number
  createdBy: string
}
export type WebhookChange = {
  url?: string
  kinds?: FactKind[]
  description?: string | null
  /** Enabling again clears the failures; what waited is due at once. */
  isEnabled?: boolean
}
export type NewMailAddress = { id: string; owner: string; address: string; kinds: MailKind[]; createdBy: string }
export type Page<T> = { data: T[]; nextCursor: string | null }
/** `owner` null for everyone's. */
export type ReceiverFilter = { owner: string | null; limit: number; cursor: string | null }

/** Every verb that names one takes `owner` too, null for everyone's, and answers null for what that owner does not have. */
export interface Receivers {
  addWebhook(webhook: NewWebhook): Promise<Webhook>
  listWebhooks(filter: ReceiverFilter): Promise<Page<Webhook>>
  findWebhook(id: string, owner: string | null): Promise<Webhook | null>
  changeWebhook(id: string, owner: string | null, change: WebhookChange): Promise<Webhook | null>
  /** The present secret becomes the old one and signs too for so long. */
  rotateSecret(id: string, owner: string | null, secret: string, oldForSeconds: number): Promise<Webhook | null>
  removeWebhook(id: string, owner: string | null): Promise<boolean>

  /** Adds the address, or sets its kinds when this owner has it; what was unsubscribed is wanted again. */
  putAddress(address: NewMailAddress): Promise<MailAddress>
  listAddresses(filter: ReceiverFilter): Promise<Page<MailAddress>>
  findAddress(id: string, owner: string | null): Promise<MailAddress | null>
  removeAddress(id: string, owner: string | null): Promise<boolean>
  /** Takes one kind away, or all of them. Doing it twice changes nothing. */
  unsubscribe(id: string, kind: MailKind | null): Promise<MailAddress | null>

  /** The one stream there is: made, changed or, with no kinds, disabled, as the configuration says. True when one was disabled. */
  setStream(kinds: FactKind[]): Promise<boolean>
  /** Stops everything for a receiver that said it is gone; what waits is kept. */
  disable(id: string, reason: string): Promise<boolean>
}
