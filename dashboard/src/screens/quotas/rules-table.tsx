/** The rules that the person may see, and for administrators the acts on them. */

import type { ModelInfo, QuotaRule } from '@holdfast/client'
import { Button, Group } from '@mantine/core'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Moment } from '../../parts/moment.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { Way } from '../../parts/way.tsx'
import { useMay } from '../../session.tsx'
import { ACTION_WORDS, amountWords, currencyOf, LIMIT_WORDS, LIMITS, ruleWords, whoseWords } from './usage-words.ts'

export function RulesTable({ rules, models, onEdit, onDelete }: RulesTableProps) {
  const mayWrite = useMay('admin')
  if (rules.length === 0) {
    return (
      <EmptyState title="No rules yet">
        A rule keeps an owner, a model or everyone within limits: so many runs at once, per hour or per day, or so much
        cost. {mayWrite ? 'Add the first one with “New rule”.' : 'Administrators make them.'}
      </EmptyState>
    )
  }
  return (
    <TableBox label="Rules" columns={['Whose', 'Model', 'Limits', 'Above a limit', 'Changed', mayWrite && 'Acts']}>
      <tbody>
        {rules.map((rule) => (
          <tr key={rule.links.self}>
            <td>
              {rule.owner === '*' ? (
                whoseWords(rule)
              ) : (
                <Way to="/quotas" search={{ owner: rule.owner }}>
                  {rule.owner}
                </Way>
              )}
            </td>
            <td>{rule.model ?? 'All models'}</td>
            <td>
              <Limits rule={rule} currency={currencyOf(models, rule.model)} />
            </td>
            <td>{ACTION_WORDS[rule.action]}</td>
            <td>
              <Moment at={rule.updated_at} />
              {rule.counted_at === null && <div>earlier runs are still being counted</div>}
            </td>
            {mayWrite && (
              <td>
                <Group gap={4} wrap="nowrap">
                  <Button size="compact-xs" variant="default" onClick={() => onEdit(rule)} {...named('Edit', rule)}>
                    Edit
                  </Button>
                  <Button size="compact-xs" variant="default" onClick={() => onDelete(rule)} {...named('Delete', rule)}>
                    Delete
                  </Button>
                </Group>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </TableBox>
  )
}

type RulesTableProps = {
  rules: readonly QuotaRule[]
  models: readonly ModelInfo[]
  onEdit: (rule: QuotaRule) => void
  onDelete: (rule: QuotaRule) => void
}

function named(act: string, rule: QuotaRule): { 'aria-label': string } {
  return { 'aria-label': `${act} the rule of ${ruleWords(rule)}` }
}

function Limits({ rule, currency }: { rule: QuotaRule; currency: string | null }) {
  const set = LIMITS.filter((limit) => rule[limit] !== null)
  if (set.length === 0) return <>None: exempt from the rule of everyone</>
  return (
    <>
      {set.map((limit) => (
        <div key={limit}>
          {LIMIT_WORDS[limit]}: {amountWords(limit, rule[limit]!, currency)}
        </div>
      ))}
    </>
  )
}
