/** Who takes runs, of what, and whether they still give signs of life. */

import type { Worker } from '@holdfast/client'
import { SegmentedControl, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLive } from '../../live/use-live.ts'
import { workersIn } from '../../parts/directory-queries.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { useAddress } from '../../parts/use-address.ts'
import { Way } from '../../parts/way.tsx'
import { textIn } from '../../search.ts'
import { useMay } from '../../session.tsx'
import { STATES, stateNamed } from './worker-words.ts'
import { WorkersTable } from './workers-table.tsx'

const REFRESH_MS = 5_000

export default function WorkersScreen() {
  const isOperator = useMay('operator')
  if (isOperator) return <Workers />
  return (
    <>
      <PageTitle title="Workers" />
      <EmptyState title="Workers are shown to operators">
        The list tells hosts and process ids. Whether something serves a queue is told under{' '}
        <Way to="/queues" isInText>
          Queues
        </Way>
        .
      </EmptyState>
    </>
  )
}

function Workers() {
  const { search, change } = useAddress()
  const state = stateNamed(textIn(search, 'state'))
  const wanted = textIn(search, 'worker')
  const { data, error, refetch } = useQuery({ ...workersIn(state), refetchInterval: REFRESH_MS })
  useLive([['workers']], { everyMs: 2_000 })
  const workers = data?.filter(({ worker_id: id }) => wanted === undefined || id === wanted)
  return (
    <>
      <PageTitle title="Workers" note="The latest started first; those gone for a day are forgotten.">
        <SegmentedControl
          size="xs"
          aria-label="State"
          data={[{ value: '', label: 'All' }, ...STATES.map((one) => ({ value: one, label: capital(one) }))]}
          value={state ?? ''}
          onChange={(one) => change({ state: one || undefined })}
        />
      </PageTitle>
      {wanted !== undefined && (
        <Text size="sm" mb="sm">
          Only <b>{wanted}</b>.{' '}
          <Way to="/workers" isInText>
            Show all workers
          </Way>
        </Text>
      )}
      {error && !data && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading label="Reading the workers" />}
      {workers && (workers.length > 0 ? <WorkersTable workers={workers} /> : <Nobody state={state} wanted={wanted} />)}
    </>
  )
}

function Nobody({ state, wanted }: { state: Worker['state'] | undefined; wanted: string | undefined }) {
  if (wanted !== undefined) return <EmptyState title="This worker is not known any more" />
  if (state === 'silent')
    return <EmptyState title="No worker is silent">Each gives signs of life, or said goodbye.</EmptyState>
  if (state === 'stopped') return <EmptyState title="No worker has stopped in the last day" />
  return (
    <EmptyState title={state === 'live' ? 'No worker is alive' : 'No worker has been here in the last day'}>
      Runs wait until one is there. Start one with <code>holdfast worker --models your-models.ts</code>.
    </EmptyState>
  )
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}
