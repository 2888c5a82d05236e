/**
 * Webhooks, mail addresses and what was sent to them as they travel. A test holds these shapes equal to those of the
 * service.
 */

/** What a webhook can hear of. */
export type FactKind =
  | 'run.created'
  | 'run.started'
  | 'run.succeeded'
  | 'run.failed'
  | 'run.cancelled'
  | 'run.retry_scheduled'
  | 'run.reclaimed'
  | 'run.overdue'
  | 'document.duplicate'
  | 'batch.progress'
  | 'batch.completed'
  | 'quota.warning'
  | 'quota.exceeded'

/** What people can get mail about; each tells of documents only. */
export type MailKind = 'duplicate' | 'failure' | 'progress' | 'batch_finished'

type Receiver = {
  /** Whose facts; `*` for everybody’s. */
  owner: string
  enabled: boolean
  /** Null while it is enabled. */
  disabled_reason: string | null
  /** Sends that failed since the last one that worked. */
  failures: number
  created_at: string
  created_by: string
  links: { self: string; deliveries: string }
}

export type Webhook = Receiver & {
  webhook_id: string
  url: string
  events: FactKind[]
  description: string | null
  /** Until when the secret of before signs too; null when it does not. */
  old_secret_until: string | null
}

/** `secret` is what signatures are verified with; it is told here and never again. */
export type NewWebhook = Webhook & { secret: string }

export type WebhookBody = {
  url: string
  events: FactKind[]
  description?: string | null | undefined
  /** For operators: it hears of everybody’s runs. */
  owner?: '*' | null | undefined
}

/** What is not given stays as it is. */
export type WebhookChange = {
  url?: string | undefined
  events?: FactKind[] | undefined
  /** Null takes it away. */
  description?: string | null | undefined
  /** `true` after it was disabled: what waited is sent at once. */
  enabled?: boolean | undefined
}

export type RotateSecretBody = { old_secret_seconds?: number | null | undefined }

export type WebhookTest = { delivery_id: string; webhook_id: string; message_id: string; links: { self: string } }

export type Recipient = Receiver & { recipient_id: string; address: string; kinds: MailKind[] }

export type RecipientBody = {
  address: string
  /** Everything when not given. */
  kinds?: MailKind[] | null | undefined
  /** For operators: it is told about everybody’s documents. */
  owner?: '*' | null | undefined
}

export type RecipientTest = { delivery_id: string; recipient_id: string; message_id: string; links: { self: string } }

/**
 * PENDING: waits to be sent, is being sent or waits for the next try. DEAD: it was tried for the last time. DROPPED:
 * its receiver wants nothing any more.
 */
export type DeliveryState = 'PENDING' | 'DELIVERED' | 'DEAD' | 'DROPPED'

export type DeliveryChannel = 'webhook' | 'mail' | 'stream'

export type Delivery = {
  delivery_id: string
  /** The webhook, the mail address or the stream. */
  receiver_id: string
  channel: DeliveryChannel
  owner: string
  /** Such as `run.succeeded`, of a mail `failure`; or `test`. */
  kind: string
  /** The same each time it is sent. */
  message_id: string
  state: DeliveryState
  created_at: string
  /** Null when it has ended. */
  next_attempt_at: string | null
  attempt_count: number
  finished_at: string | null
  last_error: string | null
  links: { self: string }
}

export type DeliveryAttempt = {
  attempt: number
  started_at: string
  /** Null when nobody said how it went. */
  duration_ms: number | null
  request: unknown
  response: unknown
  error: string | null
}

export type DeliveryMail = { subject: string; text: string; html: string }

/** With what was told, the latest attempts, oldest first, and, of a mail, its text. */
export type DeliveryDetail = Delivery & { data: unknown; attempts: DeliveryAttempt[]; mail: DeliveryMail | null }

export type DeliveryFilter = {
  owner?: string | undefined
  state?: DeliveryState | undefined
  channel?: DeliveryChannel | undefined
  receiver_id?: string | undefined
  kind?: string | undefined
}
