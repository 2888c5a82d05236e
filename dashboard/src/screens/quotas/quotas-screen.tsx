/** Quotas: what is used of the limits of an owner, the rules themselves, and the places that are reserved. */

import type { ModelInfo, QuotaRule } from '@holdfast/client'
import { Button, Group, NativeSelect, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { PlusIcon } from '../../parts/icons.tsx'
import { Loading } from '../../parts/loading.tsx'
import { OwnerField } from '../../parts/owner-field.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { useAddress } from '../../parts/use-address.ts'
import { Way } from '../../parts/way.tsx'
import { textIn } from '../../search.ts'
import { useMay, useSession } from '../../session.tsx'
import { say } from '../../shell/notices.tsx'
import { ReservationsPanel } from './reservations-panel.tsx'
import { RuleDialog } from './rule-dialog.tsx'
import { RulesTable } from './rules-table.tsx'
import { UsagePanel } from './usage-panel.tsx'
import { ruleWords } from './usage-words.ts'
import { useModels, useRules } from './use-quotas.ts'

export default function QuotasScreen() {
  const { search, change } = useAddress()
  const { owner: own } = useSession()
  const seesAll = useMay('operator')
  const rules = useRules()
  const models = useModels()
  const chosen = seesAll ? textIn(search, 'owner') : undefined
  const owner = chosen ?? own ?? 'default'
  const model = textIn(search, 'model') ?? null
  return (
    <>
      <PageTitle title="Quotas" note="How much may run, how much does, and places held in advance">
        <Text size="sm" component="span">
          <Way to="/runs" search={{ waiting: 'approval' }}>
            Runs that wait for approval
          </Way>
        </Text>
      </PageTitle>
      <Group justify="space-between" align="flex-end" mb="xs">
        <Title order={2}>Used by {owner === '*' ? 'everyone together' : owner}</Title>
        <Group gap="sm" align="flex-end">
          {seesAll && (
            <OwnerField
              label="Owner"
              value={chosen ?? ''}
              placeholder={own ?? 'default'}
              known={[...new Set(rules.data?.items.map((rule) => rule.owner))]}
              onChange={(name) => change({ owner: name === own ? undefined : name })}
            />
          )}
          <NativeSelect
            label="Model"
            size="xs"
            value={model ?? ''}
            data={[{ value: '', label: 'All models' }, ...models.map(({ name }) => name)]}
            onChange={(event) => change({ model: event.currentTarget.value })}
          />
        </Group>
      </Group>
      {rules.data && <UsagePanel owner={owner} model={model} rules={rules.data.items} models={models} />}
      <Rules rules={rules} owner={owner} models={models} />
      <ReservationsPanel
        owner={seesAll ? (chosen ?? null) : owner}
        state={textIn(search, 'reservations') ?? 'ACTIVE'}
        onState={(state) => change({ reservations: state === 'ACTIVE' ? undefined : state })}
      />
    </>
  )
}

type RulesProps = { rules: ReturnType<typeof useRules>; owner: string; models: readonly ModelInfo[] }

function Rules({ rules: { data, error, refetch }, owner, models }: RulesProps) {
  const mayWrite = useMay('admin')
  const [edited, setEdited] = useState<QuotaRule | 'new' | null>(null)
  const [deleted, setDeleted] = useState<QuotaRule | null>(null)
  const rules = data?.items
  return (
    <div>
      <Group justify="space-between" mt="xl" mb="xs">
        <Title order={2}>Rules</Title>
        {mayWrite && (
          <Button size="xs" leftSection={<PlusIcon />} onClick={() => setEdited('new')}>
            New rule
          </Button>
        )}
      </Group>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!rules && !error && <Loading label="Reading the rules" />}
      {rules && <RulesTable rules={rules} models={models} onEdit={setEdited} onDelete={setDeleted} />}
      {edited && (
        <RuleDialog
          rule={edited === 'new' ? null : edited}
          owner={owner}
          rules={rules ?? []}
          models={models}
          onClose={() => setEdited(null)}
        />
      )}
      {deleted && <DeleteDialog rule={deleted} onClose={() => setDeleted(null)} />}
    </div>
  )
}

function DeleteDialog({ rule, onClose }: { rule: QuotaRule; onClose: () => void }) {
  const queries = useQueryClient()
  const { owner, model, together } = rule
  const remove = async () => {
    await client.quotas.delete(owner, { ...(model !== null && { model }), together })
    await queries.invalidateQueries({ queryKey: ['quotas'] })
    say(`The rule of ${ruleWords(rule)} is gone.`)
  }
  return (
    <ConfirmDialog
      isOpen
      title={`Delete the rule of ${ruleWords(rule)}?`}
      act="Delete the rule"
      onAct={remove}
      onClose={onClose}
    >
      {owner === '*'
        ? 'Its limits hold no longer, from the next submit on.'
        : `From the next submit on, the rule for each owner applies to ${owner}; without one there is no limit.`}
    </ConfirmDialog>
  )
}
