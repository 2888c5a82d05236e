/** What the audit records, in words, and where its targets are shown. Pure. */

import type { AuditEvent } from '@holdfast/client'

const ACTION_WORDS: Record<string, string> = {
  'token.create': 'Made a token',
  'token.revoke': 'Revoked a token',
  'quota.put': 'Set a quota',
  'quota.delete': 'Deleted a quota',
  'queue.set': 'Changed a queue',
  'queue.pause': 'Paused a queue',
  'queue.resume': 'Resumed a queue',
  'run.approve': 'Approved a run',
  'run.reject': 'Rejected a run',
  'bulk.cancel': 'Cancelled runs in bulk',
  'bulk.retry': 'Retried runs in bulk',
  'model.register': 'Registered a model',
  'model.change': 'Changed a model',
  'webhook.create': 'Registered a webhook',
  'webhook.change': 'Changed a webhook',
  'webhook.delete': 'Deleted a webhook',
  'webhook.rotate': 'Gave a webhook a new secret',
  'recipient.put': 'Set a mail address',
  'recipient.delete': 'Removed a mail address',
}

export const ACTIONS = Object.keys(ACTION_WORDS)

/** An act this page does not know is its own word. */
export function actionWords(action: string): string {
  return Object.hasOwn(ACTION_WORDS, action) ? ACTION_WORDS[action]! : action
}

export type TargetLink = { to: string; search?: Record<string, string> }

/** Where the target is shown; null when nowhere. */
export function targetLink({ action, target }: Pick<AuditEvent, 'action' | 'target'>): TargetLink | null {
  if (target === null) return null
  switch (action.split('.')[0]) {
    case 'run':
      return { to: `/runs/${encodeURIComponent(target)}` }
    case 'queue':
      return { to: '/queues', search: { queue: target } }
    case 'token':
      return { to: '/tokens', search: { token: target } }
    case 'quota':
      return { to: '/quotas', search: { owner: ownerIn(target) } }
    case 'model':
      return { to: '/models', search: { model: target.replace(/@[^@]*$/, '') } }
    case 'webhook':
      return { to: '/deliveries', search: { receiver: target } }
    default:
      return null
  }
}

/** The title of a rule is its owner, and then perhaps its model and that it counts everyone together. */
function ownerIn(title: string): string {
  return title.replace(/ together$/, '').replace(/ model \S+$/, '')
}

export type AuditFilter = { action: string; actor: string }

/** The API has no filter: what is asked for is looked for here. */
export function fits({ action, actor }: AuditFilter, event: AuditEvent): boolean {
  if (action !== '' && event.action !== action) return false
  return actor === '' || event.actor_owner.toLowerCase().includes(actor.toLowerCase())
}
