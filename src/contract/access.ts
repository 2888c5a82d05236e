/** Tokens, sessions and the audit on the wire. A token itself is in one answer only: that of the request that made it. */

import { z } from 'zod'

/** Ten years. */
export const TOKEN_SECONDS_MAX = 10 * 366 * 24 * 3600

const time = z.iso.datetime()
const owner = z.string().regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters')

export const TokenRoleName = z.enum(['viewer', 'submitter', 'worker', 'operator', 'admin'])

export const TokenObject = z.strictObject({
  token_id: z.guid(),
  name: z.string(),
  role: TokenRoleName,
  owner: z.string(),
  /** Of a worker token: the only queues it may take runs from; null for all. */
  queues: z.array(z.string()).nullable(),
  created_at: time,
  created_by: z.string(),
  expires_at: time.nullable(),
  /** Up to a minute old. */
  last_used_at: time.nullable(),
  revoked_at: time.nullable(),
})

export const TokenBody = z.strictObject({
  role: TokenRoleName,
  /** Whose runs its holder makes. */
  owner,
  /** For people; made from role and owner when not given. */
  name: z.string().min(1).max(255).nullish(),
  /** For the role worker only. */
  queues: z.array(z.string().min(1).max(128)).min(1).max(100).nullish(),
  /** Without it the token does not expire. */
  expires_in_seconds: z.int().min(1).max(TOKEN_SECONDS_MAX).nullish(),
})

export const TokenMadeAnswer = TokenObject.extend({
  /** Shown here and never again. */
  token: z.string(),
})

export const TokenListAnswer = z.strictObject({ data: z.array(TokenObject), next_cursor: z.string().nullable() })

export const AuditEventObject = z.strictObject({
  audit_id: z.int(),
  at: time,
  /** Null when the actor showed no token: the command line, or anyone on this machine while there were none. */
  actor_token_id: z.guid().nullable(),
  actor_owner: z.string(),
  action: z.string(),
  target: z.string().nullable(),
  data: z.record(z.string(), z.unknown()),
  request_id: z.string().nullable(),
})

export const AuditAnswer = z.strictObject({ data: z.array(AuditEventObject), next_cursor: z.string().nullable() })

export const SessionBody = z.strictObject({ token: z.string().min(1).max(255) })

/** Who the caller is. Role and owner are null for a caller without a valid token or session. */
export const SessionObject = z.strictObject({
  /** `open`: there are no tokens, and everyone on this machine is an administrator. */
  mode: z.enum(['open', 'tokens']),
  role: TokenRoleName.nullable(),
  owner: z.string().nullable(),
  token_id: z.guid().nullable(),
  token_name: z.string().nullable(),
  /** Of the session or the token, whichever ends first; null for never. */
  expires_at: time.nullable(),
})

export type TokenObject = z.infer<typeof TokenObject>
export type TokenBody = z.infer<typeof TokenBody>
export type TokenMadeAnswer = z.infer<typeof TokenMadeAnswer>
export type TokenListAnswer = z.infer<typeof TokenListAnswer>
export type AuditEventObject = z.infer<typeof AuditEventObject>
export type AuditAnswer = z.infer<typeof AuditAnswer>
export type SessionBody = z.infer<typeof SessionBody>
export type SessionObject = z.infer<typeof SessionObject>
