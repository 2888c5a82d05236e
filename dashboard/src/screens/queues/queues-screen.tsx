/** How full the queues are, who serves them, and pausing and resuming them. */

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLive } from '../../live/use-live.ts'
import { allQueues } from '../../parts/directory-queries.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { useAddress } from '../../parts/use-address.ts'
import { textIn } from '../../search.ts'
import { PauseDialog } from './pause-dialog.tsx'
import { QueueDialog } from './queue-dialog.tsx'
import { QueuesTable } from './queues-table.tsx'

const REFRESH_MS = 5_000

export default function QueuesScreen() {
  const { search, change } = useAddress()
  const { data: queues, error, refetch } = useQuery({ ...allQueues, refetchInterval: REFRESH_MS })
  useLive([['queues']], { everyMs: 2_000 })
  const [toSwitch, setToSwitch] = useState<string | null>(null)
  const opened = textIn(search, 'queue')
  const named = (name: string | null | undefined) => queues?.find(({ queue }) => queue === name)
  return (
    <>
      <PageTitle title="Queues" note="Each run waits in the queue that its model or its request names." />
      {error && !queues && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!queues && !error && <Loading label="Reading the queues" />}
      {queues?.length === 0 && (
        <EmptyState title="There are no queues yet">A queue is there as soon as a worker serves it.</EmptyState>
      )}
      {queues && queues.length > 0 && <QueuesTable queues={queues} onSwitch={setToSwitch} />}
      {queues && opened !== undefined && (
        <QueueDialog
          name={opened}
          queue={named(opened)}
          onSwitch={() => setToSwitch(opened)}
          onClose={() => change({ queue: undefined })}
        />
      )}
      <PauseDialog queue={named(toSwitch)} onClose={() => setToSwitch(null)} />
    </>
  )
}
