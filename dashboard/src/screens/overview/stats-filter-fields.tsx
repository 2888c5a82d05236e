/** Which runs the numbers are of: one model, one queue, or all. */

import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { allModels, allQueues } from '../../parts/directory-queries.ts'
import type { Search } from '../../search.ts'
import type { StatsFilter } from './stats-range.ts'

export function StatsFilterFields({ filter, onChange }: { filter: StatsFilter; onChange: (more: Search) => void }) {
  const models = useQuery(allModels).data?.map(({ name }) => name)
  const queues = useQuery(allQueues).data?.map(({ queue }) => queue)
  return (
    <>
      <Field
        label="Model"
        all="All models"
        names={models}
        value={filter.model}
        onChange={(model) => onChange({ model })}
      />
      <Field
        label="Queue"
        all="All queues"
        names={queues}
        value={filter.queue}
        onChange={(queue) => onChange({ queue })}
      />
    </>
  )
}

function Field({ label, all, names = [], value, onChange }: FieldProps) {
  // One that the address names is there even when nobody has it any more.
  const known = value === undefined || names.includes(value) ? names : [value, ...names]
  return (
    <NativeSelect
      size="xs"
      maw={180}
      aria-label={label}
      value={value ?? ''}
      data={[{ value: '', label: all }, ...known]}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
    />
  )
}

type FieldProps = {
  label: string
  all: string
  names: string[] | undefined
  value: string | undefined
  onChange: (name: string | undefined) => void
}
