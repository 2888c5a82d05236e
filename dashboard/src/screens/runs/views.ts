/** Saved views: a filter and an order under a name. */

import type { View } from '@holdfast/client'
import { client } from '../../client.ts'
import type { Search } from '../../search.ts'
import { conditionsOf, searchOf } from './filter.ts'

const VIEWS_MAX = 200

export async function listViews({ signal }: { signal?: AbortSignal } = {}): Promise<View[]> {
  const views: View[] = []
  for await (const view of client.views.list(signal ? { signal } : {})) {
    views.push(view)
    if (views.length >= VIEWS_MAX) break
  }
  return views
}

/** The view is this address and nothing else. */
export function viewSearch({ filter, order }: Pick<View, 'filter' | 'order'>): Search {
  return { ...searchOf(conditionsOf(filter)), ...(order === 'created_at_asc' && { order }) }
}
