/** Which model and which version; says whether anyone is there to run it. */

import type { ModelInfo } from '@holdfast/client'
import { Group, NativeSelect, Select, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { allModels } from '../../parts/directory-queries.ts'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { Way } from '../../parts/way.tsx'
import classes from './submit.module.css'

const SHOWN_MAX = 60

export function ModelPicker({ name, model, onModel, onVersion }: ModelPickerProps) {
  const models = useQuery(allModels)
  const known = models.data ?? []
  const listed = name === null || known.some((each) => each.name === name) ? known : [{ name, offered: true }, ...known]
  const offered = new Map(known.map((each) => [each.name, each.offered]))
  return (
    <section className={classes.box} aria-label="Model">
      {models.error && <ErrorNotice error={models.error} onRetry={() => void models.refetch()} />}
      <Group gap="md" align="flex-start">
        <Select
          label="Model"
          placeholder={models.isPending ? 'Loading…' : 'Search by name'}
          data={listed.map((each) => each.name)}
          value={name}
          onChange={(chosen) => chosen !== null && onModel(chosen)}
          searchable
          allowDeselect={false}
          limit={SHOWN_MAX}
          nothingFoundMessage="No model has this in its name"
          size="sm"
          flex="1 1 260px"
          maw={420}
          renderOption={({ option }) => (
            <span>
              {option.value}
              {offered.get(option.value) === false && (
                <Text span size="xs" c="dimmed">
                  {' '}
                  · no live worker
                </Text>
              )}
            </span>
          )}
        />
        {model && (
          <NativeSelect
            label="Version"
            size="sm"
            value={model.version}
            data={model.versions.map(({ version, offered: isOffered }, index) => ({
              value: version,
              label: `${version}${index === 0 ? ' (newest)' : ''}${isOffered ? '' : ' · no live worker'}`,
            }))}
            onChange={({ currentTarget }) => onVersion(currentTarget.value)}
          />
        )}
      </Group>
      {model && <About model={model} />}
    </section>
  )
}

type ModelPickerProps = {
  name: string | null
  /** Null while it is loading. */
  model: ModelInfo | null
  onModel(name: string): void
  onVersion(version: string): void
}

function About({ model }: { model: ModelInfo }) {
  const { name, description, offered, live_workers: count } = model
  return (
    <Text size="sm" mt="xs" component="div">
      {description && <Text size="sm">{description}</Text>}
      {offered ? (
        <Text size="xs" c="dimmed">
          Offered by {count === 1 ? 'one live worker' : `${count} live workers`}. Queue {model.queue}.{' '}
          <Way to="/models" search={{ model: name }} className={classes.inText}>
            About this model
          </Way>
        </Text>
      ) : (
        <Text size="sm" fw={500}>
          <span aria-hidden>⚠ </span>No live worker offers this version: a run would wait until one does.{' '}
          <Way to="/workers" className={classes.inText}>
            See the workers
          </Way>
        </Text>
      )}
    </Text>
  )
}
