/** One more condition: what, is or is not, and a value; known models and queues are offered, any other may be typed. */

import { ActionIcon, Button, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { client } from '../../client.ts'
import { CloseIcon } from '../../parts/icons.tsx'
import { type Condition, type FilterName, isNegatable } from './filter.ts'
import classes from './filter-bar.module.css'
import { NAMES } from './filter-words.ts'
import { fromField, PRESETS, since, toField, withRange } from './time-range.ts'

const CHOICES: { value: FilterName; label: string }[] = [
  { value: 'model', label: NAMES.model },
  { value: 'status', label: NAMES.status },
  { value: 'owner', label: NAMES.owner },
  { value: 'queue', label: NAMES.queue },
  { value: 'tag', label: NAMES.tag },
  { value: 'created_after', label: 'Created (time)' },
  { value: 'text', label: 'Text (title, run id or error class)' },
  { value: 'error_class', label: NAMES.error_class },
  { value: 'model_version', label: NAMES.model_version },
  { value: 'batch_id', label: 'Batch (id)' },
  { value: 'overdue', label: NAMES.overdue },
  { value: 'waiting', label: NAMES.waiting },
  { value: 'facet', label: 'Facet (name:value of the result)' },
]

const FIXED: Partial<Record<FilterName, string[]>> = {
  status: ['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED'],
  waiting: ['approval', 'concurrency'],
}

type AddFilterProps = {
  conditions: readonly Condition[]
  onAdd: (condition: Condition) => void
  onChange: (wanted: Condition[]) => void
  onClose: () => void
}

export default function AddFilter({ conditions, onAdd, onChange, onClose }: AddFilterProps) {
  const [name, setName] = useState<FilterName>('model')
  return (
    <search
      className={classes.adding}
      aria-label="Add a filter"
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <NativeSelect
        label="Filter by"
        size="xs"
        data={CHOICES}
        value={name}
        autoFocus
        onChange={(event) => setName(event.currentTarget.value as FilterName)}
      />
      {name === 'created_after' ? (
        <TimeFields conditions={conditions} onChange={onChange} />
      ) : (
        <ValueFields key={name} name={name} onAdd={onAdd} />
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label="Close the filter form"
        className={classes.close}
        onClick={onClose}
      >
        <CloseIcon />
      </ActionIcon>
    </search>
  )
}

function ValueFields({ name, onAdd }: { name: FilterName; onAdd: (condition: Condition) => void }) {
  const fixed = FIXED[name]
  const [isNot, setNot] = useState(false)
  const [value, setValue] = useState(name === 'overdue' ? 'true' : (fixed?.[0] ?? ''))
  const label = `Value of ${NAMES[name].toLowerCase()}`
  const add = () => {
    const text = value.trim()
    if (text === '') return
    onAdd({ name, isNot, value: text })
    if (!fixed && name !== 'overdue') setValue('')
  }
  return (
    <Form onSubmit={add}>
      {isNegatable(name) && (
        <NativeSelect
          size="xs"
          aria-label="Is or is not"
          data={name === 'text' ? ['begins with', 'does not begin with'] : ['is', 'is not']}
          value={isNot ? (name === 'text' ? 'does not begin with' : 'is not') : name === 'text' ? 'begins with' : 'is'}
          onChange={(event) => setNot(event.currentTarget.value.includes('not'))}
        />
      )}
      {fixed && (
        <NativeSelect
          size="xs"
          aria-label={label}
          data={fixed}
          value={value}
          onChange={(event) => setValue(event.currentTarget.value)}
        />
      )}
      {!fixed && name !== 'overdue' && <ValueInput name={name} label={label} value={value} onChange={setValue} />}
      <Button size="xs" type="submit" disabled={value.trim() === ''}>
        Add
      </Button>
    </Form>
  )
}

type ValueInputProps = { name: FilterName; label: string; value: string; onChange: (value: string) => void }

function ValueInput({ name, label, value, onChange }: ValueInputProps) {
  const { data: known = [] } = useQuery({
    queryKey: ['filter-values', name],
    queryFn: () => knownValues(name),
    staleTime: 60_000,
  })
  return (
    <>
      <TextInput
        size="xs"
        w={220}
        aria-label={label}
        list="filter-values"
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <datalist id="filter-values">
        {known.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </>
  )
}

const KNOWN_MAX = 200

async function knownValues(name: FilterName): Promise<string[]> {
  const found = new Set<string>()
  if (name === 'model' || name === 'model_version') {
    for await (const { name: model, versions } of client.models.list()) {
      for (const one of name === 'model' ? [model] : versions.map(({ version }) => version)) found.add(one)
      if (found.size >= KNOWN_MAX) break
    }
  }
  if (name === 'queue') for await (const { queue } of client.queues.list()) found.add(queue)
  return [...found].slice(0, KNOWN_MAX)
}

type TimeFieldsProps = { conditions: readonly Condition[]; onChange: (wanted: Condition[]) => void }

function TimeFields({ conditions, onChange }: TimeFieldsProps) {
  const valueIn = (name: FilterName) => conditions.find((one) => one.name === name)?.value
  const [after, setAfter] = useState(toField(valueIn('created_after')))
  const [before, setBefore] = useState(toField(valueIn('created_before')))
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  return (
    <Form onSubmit={() => onChange(withRange(conditions, fromField(after), fromField(before)))}>
      <Button.Group>
        {PRESETS.map(({ label, hours }) => (
          <Button
            key={hours}
            size="xs"
            variant="default"
            onClick={() => onChange(withRange(conditions, since(hours, Date.now()), null))}
          >
            {label}
          </Button>
        ))}
      </Button.Group>
      <TextInput
        type="datetime-local"
        size="xs"
        label={`From (${zone})`}
        value={after}
        onChange={(event) => setAfter(event.currentTarget.value)}
      />
      <TextInput
        type="datetime-local"
        size="xs"
        label={`Until (${zone})`}
        value={before}
        onChange={(event) => setBefore(event.currentTarget.value)}
      />
      <Button size="xs" type="submit">
        Set
      </Button>
    </Form>
  )
}

function Form({ onSubmit, children }: { onSubmit: () => void; children: ReactNode }) {
  return (
    <form
      className={classes.fields}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {children}
    </form>
  )
}
