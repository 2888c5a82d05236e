/** Every limit that applies to an owner, for all models and for each model that has limits of its own. */

import type { ModelInfo, Quota, QuotaRule, QuotaUsage } from '@holdfast/client'
import { Title } from '@mantine/core'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { Loading } from '../../parts/loading.tsx'
import tables from '../../parts/table.module.css'
import { UsageBar } from './usage-bar.tsx'
import { currencyOf } from './usage-words.ts'
import { sectionsFor, type UsageSection, useUsage } from './use-quotas.ts'

type UsagePanelProps = {
  owner: string
  model: string | null
  rules: readonly QuotaRule[]
  models: readonly ModelInfo[]
}

export function UsagePanel({ owner, model, rules, models }: UsagePanelProps) {
  const sections = sectionsFor(owner, model, rules)
  const answers = useUsage(owner, sections)
  const failed = answers.find(({ error, data }) => error !== null && data === undefined)
  if (failed) return <ErrorNotice error={failed.error} onRetry={() => void failed.refetch()} />
  if (answers.some(({ data }) => data === undefined)) return <Loading label="Counting what is used" />
  const shown = sections.map((section, index) => ({ section, usage: usageIn(section, answers[index]!.data!, model) }))
  const filled = shown.filter(({ usage }) => usage.length > 0)
  if (filled.length === 0) return <NoLimits owner={owner} model={model} />
  return (
    <>
      {filled.map(({ section, usage }) => (
        <div key={section.model ?? ''}>
          <Title order={3} mt="sm" mb={6}>
            {section.model === null ? 'All models' : `Model ${section.model}`}
          </Title>
          <ul className={tables.box} style={{ margin: 0, padding: 0, listStyle: 'none', fontSize: 13 }}>
            {usage.map((one) => (
              <UsageBar
                key={keyOf(one)}
                usage={one}
                currency={currencyOf(models, one.rule.model)}
                isContested={usage.some((other) => other !== one && other.limit === one.limit)}
              />
            ))}
          </ul>
        </div>
      ))}
    </>
  )
}

/** Limits over all models are said once, above, unless one model was asked for. */
function usageIn(section: UsageSection, { usage }: Quota, chosen: string | null): QuotaUsage[] {
  if (section.model === null || chosen !== null) return usage
  return usage.filter(({ rule }) => rule.model !== null)
}

function keyOf({ rule, limit }: QuotaUsage): string {
  return `${rule.owner} ${rule.model ?? ''} ${rule.together} ${limit}`
}

function NoLimits({ owner, model }: { owner: string; model: string | null }) {
  if (owner === '*') {
    return (
      <EmptyState title="No limit counts everyone together">
        Rules for each owner are used by each of them: choose an owner to see how much.
      </EmptyState>
    )
  }
  return (
    <EmptyState title={`No limit applies to ${owner}`}>
      {model === null
        ? 'Its runs are accepted however many there are. An administrator can add a rule below.'
        : `Runs of ${model} are accepted however many there are.`}
    </EmptyState>
  )
}
