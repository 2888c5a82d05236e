/** Makes a rule or changes one. What the API does not accept is said at the fields. */

import type { ModelInfo, QuotaAction, QuotaRule } from '@holdfast/client'
import { Alert, NativeSelect, SimpleGrid, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { DialogForm } from '../../parts/dialog-form.tsx'
import { fieldErrors } from '../../parts/field-errors.ts'
import { say } from '../../shell/notices.tsx'
import { bodyOf, emptyForm, formOf, isSameName, nameOf, type RuleForm, type Whose } from './rule-form.ts'
import { ACTION_WORDS, currencyOf, isCost, LIMIT_WORDS, LIMITS, ruleWords } from './usage-words.ts'

const ACTIONS = Object.entries(ACTION_WORDS).map(([value, label]) => ({ value, label }))
const FIELDS = [...LIMITS, 'action']

type RuleDialogProps = {
  /** The rule to change; none for a new one. */
  rule: QuotaRule | null
  /** Of a new one, to begin with. */
  owner: string
  rules: readonly QuotaRule[]
  models: readonly ModelInfo[]
  onClose: () => void
}

export function RuleDialog({ rule, owner, rules, models, onClose }: RuleDialogProps) {
  const queries = useQueryClient()
  const [form, setForm] = useState(() => (rule ? formOf(rule) : emptyForm(owner)))
  const name = nameOf(form)
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      client.quotas.put(name.owner, bodyOf(form), {
        ...(name.model !== null && { model: name.model }),
        together: name.together,
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['quotas'] })
      say(`The rule of ${ruleWords(name)} holds from now on.`)
      onClose()
    },
  })
  const replaced = rule === null && rules.some((other) => isSameName(other, name))
  return (
    <Dialog isOpen title={rule ? `Rule of ${ruleWords(rule)}` : 'New rule'} onClose={onClose}>
      <DialogForm
        act={rule || replaced ? 'Replace the rule' : 'Make the rule'}
        isPending={isPending}
        error={error}
        fields={FIELDS}
        onAct={mutate}
        onClose={onClose}
      >
        {rule === null && <NameFields form={form} models={models} onChange={setForm} />}
        {replaced && (
          <Alert color="yellow" variant="light" title="⚠ There is such a rule already">
            Saving replaces it as a whole.
          </Alert>
        )}
        <LimitFields
          form={form}
          currency={currencyOf(models, name.model)}
          error={error}
          isFirst={rule !== null}
          onChange={setForm}
        />
      </DialogForm>
    </Dialog>
  )
}

type FieldsProps = { form: RuleForm; onChange: (form: RuleForm) => void }

function NameFields({ form, models, onChange }: FieldsProps & { models: readonly ModelInfo[] }) {
  return (
    <>
      <NativeSelect
        label="Whose runs"
        value={form.whose}
        onChange={(event) => onChange({ ...form, whose: event.currentTarget.value as Whose })}
        data={[
          { value: 'owner', label: 'Those of one owner' },
          { value: 'each', label: 'Those of each owner by itself' },
          { value: 'together', label: 'Those of everyone together' },
        ]}
        autoFocus
      />
      {form.whose === 'owner' && (
        <TextInput
          label="Owner"
          required
          maxLength={255}
          value={form.owner}
          onChange={(event) => onChange({ ...form, owner: event.currentTarget.value })}
        />
      )}
      <NativeSelect
        label="Model"
        value={form.model}
        onChange={(event) => onChange({ ...form, model: event.currentTarget.value })}
        data={[{ value: '', label: 'All models' }, ...models.map(({ name }) => name)]}
      />
    </>
  )
}

type LimitFieldsProps = FieldsProps & { currency: string | null; error: unknown; isFirst: boolean }

function LimitFields({ form, currency, error, isFirst, onChange }: LimitFieldsProps) {
  const wrong = fieldErrors(error)
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="sm">
        {LIMITS.map((limit, index) => (
          <TextInput
            key={limit}
            label={isCost(limit) && currency !== null ? `${LIMIT_WORDS[limit]} (${currency})` : LIMIT_WORDS[limit]}
            placeholder="No limit"
            inputMode="decimal"
            autoFocus={isFirst && index === 0}
            value={form.limits[limit]}
            error={wrong[limit]}
            onChange={(event) => onChange({ ...form, limits: { ...form.limits, [limit]: event.currentTarget.value } })}
          />
        ))}
      </SimpleGrid>
      <NativeSelect
        label="What happens to a run above a limit"
        value={form.action}
        error={wrong.action}
        onChange={(event) => onChange({ ...form, action: event.currentTarget.value as QuotaAction })}
        data={ACTIONS}
      />
    </>
  )
}
