/** One model: what it takes, how it runs, its versions, and the ways to its runs. */

import type { ModelInfo } from '@holdfast/client'
import { Button, Group, Stack, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { client } from '../../client.ts'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { Facts } from '../../parts/facts.tsx'
import { JsonBlock } from '../../parts/json-block.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { Way } from '../../parts/way.tsx'
import { useMay } from '../../session.tsx'
import { factsOf } from './model-facts.tsx'
import classes from './models.module.css'
import { ParametersTable } from './parameters-table.tsx'
import { VersionsTable } from './versions-table.tsx'

const REFRESH_MS = 15_000

export function ModelDetail({ name, version }: { name: string; version: string | undefined }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['models', 'one', name, version ?? null],
    queryFn: ({ signal }) => client.models.get(name, { signal, ...(version && { version }) }),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  })
  const model = data?.name === name ? data : undefined
  return (
    <>
      <PageTitle title={name} tab={`Model ${name}`} note={<Note model={model} />}>
        <Acts name={name} version={version} />
      </PageTitle>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!model && !error && <Loading label="Reading the model" />}
      {model && !error && <Inside model={model} />}
    </>
  )
}

function Note({ model }: { model: ModelInfo | undefined }) {
  return (
    <>
      <Way to="/models" isInText>
        All models
      </Way>
      {model && ` · version ${model.version}`}
      {model?.description && <div className={classes.about}>{model.description}</div>}
    </>
  )
}

function Acts({ name, version }: { name: string; version: string | undefined }) {
  const maySubmit = useMay('submitter')
  const seesStats = useMay('operator')
  const ofVersion = { model: name, model_version: version }
  return (
    <Group gap="sm" fz="sm">
      {seesStats && (
        <Way to="/" search={{ model: name }}>
          Its statistics
        </Way>
      )}
      <Way to="/runs" search={{ ...ofVersion, status: 'FAILED' }}>
        Its failures
      </Way>
      <Way to="/runs" search={ofVersion}>
        Its runs
      </Way>
      {maySubmit && (
        <Button size="xs" renderRoot={(props) => <Link to="/submit" search={{ model: name }} {...props} />}>
          Submit a run
        </Button>
      )}
    </Group>
  )
}

function Inside({ model }: { model: ModelInfo }) {
  return (
    <Stack gap="lg">
      <div className={classes.box}>
        <Facts facts={factsOf(model)} />
      </div>
      <div>
        <Title order={2} mb={6}>
          Parameters
        </Title>
        <ParametersTable schema={model.parameters_schema} />
      </div>
      <div>
        <Title order={2} mb={6}>
          Versions
        </Title>
        <VersionsTable model={model} />
      </div>
      <div>
        <Title order={2} mb={6}>
          Schema
        </Title>
        <JsonBlock label="JSON Schema of its parameters" value={model.parameters_schema} />
      </div>
    </Stack>
  )
}
