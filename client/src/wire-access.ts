/** Tokens, sessions and the audit as they travel. A test holds these shapes equal to those of the service. */

export type TokenRole = 'viewer' | 'submitter' | 'worker' | 'operator' | 'admin'

export type Token = {
  token_id: string
  name: string
  role: TokenRole
  owner: string
  queues: string[] | null
  created_at: string
  created_by: string
  expires_at: string | null
  last_used_at: string | null
  revoked_at: string | null
}

/** The token itself is in this answer and never again. */
export type NewToken = Token & { token: string }

export type TokenBody = {
  role: TokenRole
  owner: string
  name?: string | null | undefined
  /** For the role worker only. */
  queues?: string[] | null | undefined
  expires_in_seconds?: number | null | undefined
}

export type AuditEvent = {
  audit_id: number
  at: string
  actor_token_id: string | null
  actor_owner: string
  action: string
  target: string | null
  data: Record<string, unknown>
  request_id: string | null
}

export type Session = {
  mode: 'open' | 'tokens'
  role: TokenRole | null
  owner: string | null
  token_id: string | null
  token_name: string | null
  expires_at: string | null
}
