/** Which run: by its id, or one of the latest. */

import type { Run } from '@holdfast/client'
import { Autocomplete, type ComboboxItem, type OptionsFilter, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { client } from '../../client.ts'
import { formatAgo } from '../../parts/format.ts'

const RUN_ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const SHOWN_MAX = 25

export function RunPicker({ label, runId, sameModelAs, onRun }: RunPickerProps) {
  const [typed, setTyped] = useState(runId ?? '')
  useEffect(() => setTyped(runId ?? ''), [runId])
  const { data: recent = [] } = useQuery({
    queryKey: ['runs', 'to compare', sameModelAs],
    queryFn: async ({ signal }) => {
      const filter = sameModelAs === null ? {} : { model: sameModelAs }
      return (await client.listPage(filter, { limit: 50, signal })).data
    },
    staleTime: 10_000,
  })
  const byId = new Map(recent.map((run) => [run.run_id, run]))
  const take = (text: string) => {
    setTyped(text)
    const id = text.trim().toLowerCase()
    if (RUN_ID.test(id) && id !== runId) onRun(id)
  }
  return (
    <Autocomplete
      label={label}
      placeholder="Id, model or title"
      size="sm"
      value={typed}
      data={recent.map(({ run_id }) => run_id)}
      limit={SHOWN_MAX}
      filter={filterBy(byId, typed === runId)}
      onChange={take}
      onBlur={() => runId !== null && typed.trim() === '' && setTyped(runId)}
      renderOption={({ option }) => <Choice run={byId.get(option.value)} />}
      comboboxProps={{ shadow: 'md' }}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 12 } }}
    />
  )
}

type RunPickerProps = {
  label: string
  runId: string | null
  /** Runs of this model are suggested; null for those of any. */
  sameModelAs: string | null
  onRun(runId: string): void
}

function Choice({ run }: { run: Run | undefined }) {
  if (!run) return null
  return (
    <div style={{ minWidth: 0 }}>
      <Text size="sm" truncate>
        {run.title ?? run.model}
      </Text>
      <Text size="xs" c="dimmed" truncate>
        {run.status} · {formatAgo(run.created_at, Date.now())} · {run.title ? `${run.model} · ` : ''}
        {run.run_id.slice(0, 13)}…
      </Text>
    </div>
  )
}

/** By id, model, title and status; a field that shows a chosen run suggests all. */
function filterBy(byId: Map<string, Run>, showsAll: boolean): OptionsFilter {
  return ({ options, search, limit }) => {
    const wanted = search.trim().toLowerCase()
    const fits = ({ value }: ComboboxItem) => {
      const run = byId.get(value)
      if (!run) return false
      const text = [run.run_id, run.model, run.title, run.status].join(' ').toLowerCase()
      return showsAll || text.includes(wanted)
    }
    return (options as ComboboxItem[]).filter(fits).slice(0, limit)
  }
}
