/** What a model declares, in words. */

import type { ModelInfo, RetryPolicy } from '@holdfast/client'
import { formatDuration, formatNumber } from '../../parts/format.ts'
import type { Look } from '../../parts/tone-badge.tsx'

type ModelCost = NonNullable<ModelInfo['cost']>
type RunsPerKey = NonNullable<ModelInfo['runs_per_key']>

export function offeredLook(offered: boolean, workers: number): Look {
  return offered
    ? { word: `OFFERED BY ${formatNumber(workers)}`, shape: '●', tone: 'good' }
    : { word: 'NOT OFFERED', shape: '○', tone: 'quiet' }
}

export function retryWords(policy: RetryPolicy): string {
  const { max_attempts: attempts, jitter } = policy
  if (attempts === 1) return '1 attempt, no retry'
  const spread = jitter > 0 ? `, ± ${formatNumber(jitter * 100)} %` : ''
  return `${formatNumber(attempts)} attempts, ${backoffWords(policy)}${spread}`
}

function backoffWords(policy: RetryPolicy): string {
  const { backoff, base_delay_seconds: base, max_delay_seconds: max, factor, max_attempts: attempts } = policy
  if (backoff === 'fixed') return `${formatDuration(base)} apart`
  // The first attempt waits for nothing.
  const delays = policy.delays_seconds.slice(0, attempts - 1)
  if (backoff === 'list') return `after ${delays.map(formatDuration).join(', ')}`
  return `after ${formatDuration(base)}, each ${formatNumber(factor)} times longer, at most ${formatDuration(max)}`
}

/** Which errors are retried, where the model says so. */
export function retriedErrors({ retry_on: on, no_retry_on: not }: RetryPolicy): string | null {
  const told = [on && `only ${on.join(', ') || 'none'}`, not.length > 0 && `never ${not.join(', ')}`].filter(Boolean)
  return told.length > 0 ? told.join('; ') : null
}

export function costWords({ estimate, rate_per_second: rate, currency, on_failure, on_cancel }: ModelCost): string {
  const money = currency === null ? '' : ` ${currency}`
  const parts = [
    typeof estimate === 'number' ? `about ${formatNumber(estimate)}${money}` : `${estimate}${money}`,
    rate !== null && `${formatNumber(rate)}${money} per second`,
    on_failure === 'release' && 'nothing when it fails',
    on_cancel === 'release' && 'nothing when it is cancelled',
  ]
  return parts.filter(Boolean).join(', ')
}

const MODES: Record<RunsPerKey['mode'], string> = {
  queue: 'others wait',
  refuse: 'others are refused',
  cancel_older: 'older ones are cancelled',
}

export function keyWords({ key, limit, mode, scope }: RunsPerKey): string {
  return `${formatNumber(limit)} per ${key} ${scope === 'owner' ? 'of an owner' : 'of everyone'}; ${MODES[mode]}`
}

export function secondsWords(seconds: number | null): string {
  return seconds === null ? 'not set' : formatDuration(seconds)
}

/** Other names of the list match too: any part of the name or of what it says of itself. */
export function matches({ name, description, queue }: ModelInfo, text: string): boolean {
  const wanted = text.trim().toLowerCase()
  return [name, description ?? '', queue].some((one) => one.toLowerCase().includes(wanted))
}
