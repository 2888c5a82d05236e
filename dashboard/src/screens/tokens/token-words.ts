/** Tokens in words, and the form of a new one. Pure. */

import type { Token, TokenBody, TokenRole } from '@holdfast/client'
import type { Look } from '../../parts/tone-badge.tsx'

export const ROLE_WORDS: Record<TokenRole, string> = {
  viewer: 'Sees the runs, quota and deliveries of its owner; changes nothing.',
  submitter: 'Also submits, cancels and retries runs of its owner, and manages their webhooks and mail.',
  operator: 'Also sees and acts on everyone’s runs, pauses queues and approves runs.',
  admin: 'Also makes tokens, sets quotas and reads the audit.',
  worker: 'Takes runs and executes them, and sees the parameters of those it takes; cannot use this dashboard.',
}

export const ROLES = Object.keys(ROLE_WORDS) as TokenRole[]

export const EXPIRY_CHOICES = [
  { value: '', label: 'Never' },
  { value: String(24 * 3_600), label: 'In a day' },
  { value: String(7 * 24 * 3_600), label: 'In a week' },
  { value: String(30 * 24 * 3_600), label: 'In 30 days' },
  { value: String(90 * 24 * 3_600), label: 'In 90 days' },
  { value: String(365 * 24 * 3_600), label: 'In a year' },
]

export type TokenForm = { role: TokenRole; owner: string; name: string; expiresIn: string; queues: string }

export function bodyOf({ role, owner, name, expiresIn, queues }: TokenForm): TokenBody {
  const named = queues.split(',').map((queue) => queue.trim())
  const given = named.filter((queue) => queue !== '')
  return {
    role,
    owner: owner.trim(),
    ...(name.trim() !== '' && { name: name.trim() }),
    ...(expiresIn !== '' && { expires_in_seconds: Number(expiresIn) }),
    ...(role === 'worker' && given.length > 0 && { queues: given }),
  }
}

const SOON_MS = 7 * 24 * 3_600_000

export function tokenLook({ revoked_at, expires_at }: Pick<Token, 'revoked_at' | 'expires_at'>, nowMs: number): Look {
  if (revoked_at !== null) return { word: 'REVOKED', shape: '⊘', tone: 'quiet' }
  if (expires_at === null) return { word: 'GOOD', shape: '✓', tone: 'good' }
  const leftMs = Date.parse(expires_at) - nowMs
  if (leftMs <= 0) return { word: 'EXPIRED', shape: '⊘', tone: 'quiet' }
  return leftMs < SOON_MS
    ? { word: 'ENDS SOON', shape: '▲', tone: 'waiting' }
    : { word: 'GOOD', shape: '✓', tone: 'good' }
}

/** What stops when it is revoked. */
export function revokeWords({ role, owner, last_used_at }: Pick<Token, 'role' | 'owner' | 'last_used_at'>): string {
  const used = last_used_at === null ? ' It was never used.' : ''
  if (role === 'worker')
    return `Workers that use it take no more runs; what they are running can still be ended.${used}`
  const refused = 'Programs and people who use it are refused within seconds, and sessions started with it end.'
  return `${refused} Runs of ${owner} go on.${used}`
}
