/** Receivers in words. Pure. */

import type { Recipient, Webhook } from '@holdfast/client'
import type { Look } from '../../parts/tone-badge.tsx'

type Receiver = Pick<Webhook | Recipient, 'enabled' | 'failures'>

export function lookOf({ enabled, failures }: Receiver): Look {
  if (!enabled) return { word: 'DISABLED', shape: '⊘', tone: 'bad' }
  if (failures > 0) return { word: 'FAILING', shape: '▲', tone: 'waiting' }
  return { word: 'ENABLED', shape: '✓', tone: 'good' }
}

export function failureWords({ enabled, failures }: Receiver): string | null {
  if (failures === 0) return null
  const times = failures === 1 ? 'The last one failed' : `The last ${failures} failed`
  return enabled ? `${times}; it is tried on` : times
}

/** Whose runs or documents it hears of. */
export function whoseWords(owner: string): string {
  return owner === '*' ? 'Everyone' : owner
}

/** How long the secret of before signs too. */
export const OLD_SECRET_CHOICES = [
  { value: '86400', label: 'For a day' },
  { value: '604800', label: 'For a week' },
  { value: '3600', label: 'For an hour' },
  { value: '0', label: 'Not at all: it is known to others' },
]
