/** Queues, models and workers as several screens read them, under one key each. */

import type { WorkerState } from '@holdfast/client'
import { queryOptions } from '@tanstack/react-query'
import { client } from '../client.ts'
import { take } from './take.ts'

/** Far more than people look at; a service with more of them still answers. */
const READ_MAX = 2_000
const BUDGET_MS = 10_000

async function read<Item>(list: (signal: AbortSignal) => AsyncIterable<Item>, signal: AbortSignal): Promise<Item[]> {
  return (await take(list, READ_MAX, { signal, budgetMs: BUDGET_MS })).items
}

export const allQueues = queryOptions({
  queryKey: ['queues', 'all'],
  queryFn: ({ signal }) => read((within) => client.queues.list({ signal: within }), signal),
})

export const allModels = queryOptions({
  queryKey: ['models', 'all'],
  queryFn: ({ signal }) => read((within) => client.models.list({ signal: within }), signal),
})

export const workersIn = (state: WorkerState | undefined) =>
  queryOptions({
    queryKey: ['workers', state ?? 'all'],
    queryFn: ({ signal }) => read((within) => client.workers.list({ signal: within, ...(state && { state }) }), signal),
  })
