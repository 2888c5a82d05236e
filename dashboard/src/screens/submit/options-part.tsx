/** What a run can be asked for beside its parameters. All of it may be left to the model. */

import type { ModelInfo } from '@holdfast/client'
import { Autocomplete, Button, Group, NativeSelect, TagsInput, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type RefObject, useId } from 'react'
import { allQueues } from '../../parts/directory-queries.ts'
import { formatDuration } from '../../parts/format.ts'
import { type FieldError, optionError } from './field-errors.ts'
import type { KeyState } from './idempotency.ts'
import { freshKey, ownKey } from './idempotency.ts'
import type { OptionTexts } from './run-options.ts'
import classes from './submit.module.css'

export type OptionsPartProps = {
  part: RefObject<HTMLDetailsElement | null>
  model: ModelInfo
  options: OptionTexts
  onOptions(options: OptionTexts): void
  keyState: KeyState
  onKey(key: KeyState): void
  errors: FieldError[]
}

/** The id of an option's field, by the name that the service has for it. */
export function optionId(name: string): string {
  return `option-${name}`
}

export function OptionsPart(props: OptionsPartProps) {
  const { part, model, options, onOptions, errors } = props
  const field = (name: keyof OptionTexts, wireName: string) => ({
    id: optionId(wireName),
    size: 'sm' as const,
    autoComplete: 'off',
    value: options[name] as string,
    error: optionError(errors, wireName),
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onOptions({ ...options, [name]: currentTarget.value }),
  })
  return (
    <details ref={part} className={classes.more}>
      <summary>Other options</summary>
      <div className={classes.grid}>
        <TextInput {...field('title', 'title')} label="Title" description="How people call the run" />
        <TagsInput
          id={optionId('tags')}
          label="Tags"
          size="sm"
          description="Enter adds one"
          value={options.tags}
          error={optionError(errors, 'tags')}
          onChange={(tags) => onOptions({ ...options, tags })}
        />
        <QueueField {...props} />
        <TextInput
          {...field('priority', 'priority')}
          label="Priority"
          inputMode="numeric"
          description="-100 to 100, higher first"
          placeholder={String(model.priority)}
        />
        <StartField {...props} />
        <Limits field={field} model={model} />
        <TextInput {...field('batchId', 'batch_id')} label="Batch" description="The id of a batch to join" />
        <KeyOptions field={field} model={model} />
      </div>
      <IdempotencyKey {...props} />
    </details>
  )
}

type FieldOf = (name: keyof OptionTexts, wireName: string) => object

function Limits({ field, model }: { field: FieldOf; model: ModelInfo }) {
  return (
    <>
      <TextInput
        {...field('maxAttempts', 'max_attempts')}
        label="Attempts at most"
        inputMode="numeric"
        description={`Up to ${model.retry.max_attempts}`}
        placeholder={String(model.retry.max_attempts)}
      />
      <TextInput
        {...field('timeoutSeconds', 'timeout_seconds')}
        label="Timeout in seconds"
        inputMode="decimal"
        description={
          model.timeout_seconds === null ? 'Of one attempt' : `Up to ${formatDuration(model.timeout_seconds)}`
        }
        placeholder={model.timeout_seconds === null ? undefined : String(model.timeout_seconds)}
      />
      <NativeSelect
        {...field('executor', 'executor')}
        label="Executor"
        description="What runs it"
        data={[
          { value: '', label: `${model.executor} (usual)` },
          ...model.executors.filter((executor) => executor !== model.executor),
        ]}
      />
      <NativeSelect
        {...field('dedupe', 'dedupe')}
        label="Equal input"
        description="What counts as the same run"
        data={[
          { value: '', label: 'Only the same key' },
          { value: 'active', label: 'Also an active run' },
          { value: 'succeeded', label: 'Also one that succeeded' },
          { value: 'off', label: 'Never match by input' },
        ]}
      />
    </>
  )
}

function KeyOptions({ field, model }: { field: FieldOf; model: ModelInfo }) {
  if (model.runs_per_key) return null
  return (
    <>
      <TextInput
        {...field('concurrencyKey', 'concurrency')}
        label="Concurrency key"
        description="Few active runs share it"
      />
      <TextInput
        {...field('concurrencyLimit', 'concurrency/limit')}
        label="Runs per key"
        inputMode="numeric"
        placeholder="1"
        description="Active at the same time"
      />
      <NativeSelect
        {...field('concurrencyMode', 'concurrency/mode')}
        label="Without a place"
        description="What the run does"
        data={[
          { value: '', label: 'Wait' },
          { value: 'refuse', label: 'Be refused' },
          { value: 'cancel_older', label: 'Cancel an older one' },
        ]}
      />
    </>
  )
}

function QueueField({ model, options, onOptions, errors }: OptionsPartProps) {
  const { data: queues = [] } = useQuery(allQueues)
  return (
    <Autocomplete
      id={optionId('queue')}
      label="Queue"
      size="sm"
      description="Where it waits for a worker"
      placeholder={model.queue}
      data={queues.map(({ queue }) => queue)}
      value={options.queue}
      error={optionError(errors, 'queue')}
      onChange={(queue) => onOptions({ ...options, queue })}
    />
  )
}

function StartField({ options, onOptions, errors }: OptionsPartProps) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  return (
    <TextInput
      id={optionId('available_at')}
      type="datetime-local"
      label="Not before"
      size="sm"
      description={`Your time: ${zone}`}
      value={options.availableAt}
      error={optionError(errors, 'available_at')}
      onChange={({ currentTarget }) => onOptions({ ...options, availableAt: currentTarget.value })}
    />
  )
}

function IdempotencyKey({ keyState, onKey, errors }: OptionsPartProps) {
  const noteId = useId()
  return (
    <div>
      <Group gap="xs" align="flex-end" mt="sm" wrap="nowrap">
        <TextInput
          id={optionId('idempotency_key')}
          label="Idempotency key"
          size="sm"
          flex={1}
          value={keyState.key}
          error={optionError(errors, 'idempotency_key')}
          aria-describedby={noteId}
          autoComplete="off"
          classNames={{ input: classes.code }}
          onChange={({ currentTarget }) => onKey(ownKey(currentTarget.value))}
        />
        <Button size="sm" variant="default" onClick={() => onKey(freshKey())}>
          New key
        </Button>
      </Group>
      <Text size="xs" c="dimmed" mt={4} id={noteId}>
        {keyState.acceptedFor === null
          ? 'However often this is sent with the same key, it makes one run.'
          : 'A run was made with this key: the same request again finds that run. A new key makes another.'}
      </Text>
    </div>
  )
}
