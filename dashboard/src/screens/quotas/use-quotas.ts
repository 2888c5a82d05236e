/** What the API says about quotas: the rules one may see, what is used, and the models that rules may be about. */

import type { Quota, QuotaRule } from '@holdfast/client'
import { useQueries, useQuery } from '@tanstack/react-query'
import { client } from '../../client.ts'
import { take } from '../../parts/take.ts'

const EVERY_MS = 5_000
const RULES_MAX = 500
const MODELS_MAX = 1_000
/** Each is a question of its own; further models are asked about one by one. */
const MODEL_SECTIONS_MAX = 12

export function useRules() {
  return useQuery({
    queryKey: ['quotas', 'rules'],
    queryFn: ({ signal }) =>
      take((ended) => client.quotas.list({ signal: ended }), RULES_MAX, { signal, budgetMs: 20_000 }),
    refetchInterval: EVERY_MS * 4,
  })
}

export function useModels() {
  const { data } = useQuery({
    queryKey: ['models', 'of quotas'],
    queryFn: ({ signal }) =>
      take((ended) => client.models.list({ signal: ended }), MODELS_MAX, { signal, budgetMs: 20_000 }),
    staleTime: 60_000,
  })
  return data?.items ?? []
}

export type UsageSection = { model: string | null; together: boolean }

/** What to ask for: all models, and each one that has a rule that may bind this owner. Of everyone, the ceilings. */
export function sectionsFor(owner: string, model: string | null, rules: readonly QuotaRule[]): UsageSection[] {
  const isEveryone = owner === '*'
  if (model !== null) return [{ model, together: isEveryone }]
  const about = rules.filter((rule) => (isEveryone ? rule.together : rule.owner === owner || rule.owner === '*'))
  const models = [...new Set(about.flatMap((rule) => rule.model ?? []))].slice(0, MODEL_SECTIONS_MAX)
  const base = isEveryone && !about.some((rule) => rule.model === null) ? [] : [null]
  return [...base, ...models].map((one) => ({ model: one, together: isEveryone }))
}

export function useUsage(owner: string, sections: readonly UsageSection[]) {
  return useQueries({
    queries: sections.map(({ model, together }) => ({
      queryKey: ['quotas', 'usage', owner, model, together],
      queryFn: ({ signal }: { signal: AbortSignal }): Promise<Quota> =>
        client.quotas.get(owner, { signal, ...(model !== null && { model }), together }),
      refetchInterval: EVERY_MS,
    })),
  })
}
