/** The facts of a model; what it does not declare is left out where that says nothing. */

import type { ModelInfo } from '@holdfast/client'
import type { Fact } from '../../parts/facts.tsx'
import { formatNumber } from '../../parts/format.ts'
import { Moment } from '../../parts/moment.tsx'
import { ToneBadge } from '../../parts/tone-badge.tsx'
import { Way } from '../../parts/way.tsx'
import { costWords, keyWords, offeredLook, retriedErrors, retryWords, secondsWords } from './model-words.ts'

export function factsOf(model: ModelInfo): Fact[] {
  const { queue, executor, executors, retry, concurrency, priority, steps, places, cost } = model
  const only = retriedErrors(retry)
  const facets = Object.keys(model.facets)
  return [
    { name: 'Live workers', value: <ToneBadge look={offeredLook(model.offered, model.live_workers)} /> },
    {
      name: 'Queue',
      value: (
        <Way to="/queues" search={{ queue }}>
          {queue}
        </Way>
      ),
    },
    { name: 'Runs on', value: executors.length > 1 ? `${executor} (or ${others(executors, executor)})` : executor },
    { name: 'Priority', value: formatNumber(priority) },
    { name: 'Retries', value: retryWords(retry) },
    ...(only ? [{ name: 'Errors that are retried', value: only }] : []),
    { name: 'Timeout of an attempt', value: secondsWords(model.timeout_seconds) },
    { name: 'Expected duration', value: secondsWords(model.expected_seconds) },
    {
      name: 'At once',
      value: concurrency === null ? 'no limit of its own' : `${formatNumber(concurrency)} per worker`,
    },
    ...(model.runs_per_key ? [{ name: 'Active runs per key', value: keyWords(model.runs_per_key) }] : []),
    { name: 'Cost of a run', value: cost === null ? 'none' : costWords(cost) },
    ...(steps.length > 0 ? [{ name: 'Steps', value: steps.join(' → ') }] : []),
    ...(facets.length > 0 ? [{ name: 'Its runs are found by', value: facets.join(', ') }] : []),
    ...(places === null ? [] : [{ name: 'Places are read from', value: places }]),
    ...(model.ignore_in_hash.length > 0
      ? [{ name: 'Do not make another input', value: model.ignore_in_hash.join(', ') }]
      : []),
    { name: 'Registered', value: <Moment at={model.registered_at} /> },
  ]
}

function others(executors: string[], executor: string): string {
  return executors.filter((one) => one !== executor).join(', ')
}
