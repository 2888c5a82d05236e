/**
 * The port to the audit: who did what to the service itself. Append-only. Acts of the store that belong in it are recorded by the
 * statement that does them; `record` is for acts that span several.
 */

/** Who acts: a token, or a name when nobody showed one. */
export type Actor = { tokenId: string | null; owner: string; requestId: string | null }

export type NewAuditEvent = {
  actor: Actor
  /** `noun.verb`, such as `queue.pause`. */
  action: string
  target: string | null
  data?: Record<string, unknown>
}

export type AuditEvent = {
  id: number
  at: Date
  actorToken: string | null
  actorOwner: string
  action: string
  target: string | null
  data: unknown
  requestId: string | null
}

export interface Audit {
  record(event: NewAuditEvent): Promise<void>
  /** Newest first. */
  list(page: { limit: number; cursor: string | null }): Promise<{ events: AuditEvent[]; nextCursor: string | null }>
}
