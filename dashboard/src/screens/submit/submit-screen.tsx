/**
 * Submitting a run: `/submit?model=NAME`, with `version` when it is not the newest; or `/submit?from=RUN_ID` for a run like another, whose hidden
 * values stay hidden and are taken over by the service.
 */

import type { Run } from '@holdfast/client'
import { Anchor } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { client } from '../../client.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { textIn } from '../../search.ts'
import { useMay, useSession } from '../../session.tsx'
import { ModelPicker } from './model-picker.tsx'
import { SubmitForm } from './submit-form.tsx'

const OFFER_READ_MS = 15_000

export default function SubmitScreen() {
  const maySubmit = useMay('submitter')
  const { role } = useSession()
  if (maySubmit) return <Submit />
  return (
    <>
      <PageTitle title="Submit" />
      <EmptyState title="You may look, but not submit runs">
        Your token has the role {role}. To submit runs, sign in with a token that has the role submitter or a higher
        one; an administrator can make one for you.
      </EmptyState>
    </>
  )
}

function Submit() {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const from = textIn(search, 'from') ?? null
  const source = useQuery({
    queryKey: ['run', from, 'source'],
    queryFn: ({ signal }) => client.get(from!, { signal }),
    enabled: from !== null,
    // The form is made from it once; what the run does afterwards is of no matter here.
    staleTime: Number.POSITIVE_INFINITY,
  })
  const name = from === null ? (textIn(search, 'model') ?? null) : (source.data?.model ?? null)
  const version = textIn(search, 'version') ?? source.data?.model_version
  const model = useQuery({
    queryKey: ['models', name, version ?? 'newest', 'to submit'],
    queryFn: ({ signal }) => client.models.get(name!, { ...(version && { version }), signal }),
    enabled: name !== null,
    placeholderData: keepPreviousData,
    refetchInterval: OFFER_READ_MS,
  })
  const shown = name !== null && model.data?.name === name ? model.data : null
  const error = source.error ?? (shown ? null : model.error)
  return (
    <>
      <PageTitle
        title={from === null ? 'Submit a run' : 'Edit and run again'}
        tab="Submit"
        note={source.data && <From run={source.data} />}
      />
      <ModelPicker
        name={name}
        model={shown}
        onModel={(chosen) => void navigate({ to: '/submit', search: { model: chosen } })}
        onVersion={(chosen) => void navigate({ to: '/submit', search: { ...search, version: chosen }, replace: true })}
      />
      <div style={{ height: 16 }} />
      {error && <ErrorNotice error={error} onRetry={() => void (source.error ? source.refetch() : model.refetch())} />}
      {!error && !shown && (name !== null || from !== null) && <Loading label="Loading the model" />}
      {name === null && from === null && (
        <EmptyState title="Choose a model">
          Its parameters become a form, with the JSON beside it. To begin from an earlier run, open that run and choose
          “Edit and run again”.
        </EmptyState>
      )}
      {shown && !error && <SubmitForm key={`${name} ${from}`} model={shown} source={source.data ?? null} />}
    </>
  )
}

function From({ run }: { run: Run }) {
  return (
    <>
      A new run with the parameters of{' '}
      <Anchor size="sm" component={Link} to={`/runs/${run.run_id}`} underline="always">
        {run.title ?? `run ${run.run_id.slice(0, 8)}…`}
      </Anchor>
      ; that one stays as it is.
    </>
  )
}
