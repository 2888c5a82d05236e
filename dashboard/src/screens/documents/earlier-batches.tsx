/** What was handed in before, each with how far it is. */

import type { ListedBatch } from '@holdfast/client'
import { Skeleton, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { client } from '../../client.ts'
import { useLive } from '../../live/use-live.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { formatMoment } from '../../parts/format.ts'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { MoreButton } from '../../parts/more-button.tsx'
import { useMore } from '../../parts/use-more.ts'
import { Way } from '../../parts/way.tsx'
import { useSession } from '../../session.tsx'
import { BatchBar } from './batch-bar.tsx'
import { batchLine } from './batch-line.ts'
import classes from './documents.module.css'

export function EarlierBatches() {
  const { owner } = useSession()
  const more = useMore(['batches', owner], (signal) => client.batches.list({ signal, ...(owner && { owner }) }))
  const { items, error, refetch } = more
  useLive([['batch']], { everyMs: 3_000 })
  if (error && !items) return <ErrorNotice error={error} onRetry={refetch} />
  return (
    <section aria-labelledby="earlier">
      <Title order={2} id="earlier" mb="xs">
        Handed in before
      </Title>
      {!items && <Loading label="Loading batches" />}
      {items?.length === 0 && (
        <EmptyState title="Nothing yet">What you hand in appears here, with what became of each file.</EmptyState>
      )}
      {items && items.length > 0 && (
        <ul className={classes.batches}>
          {items.map((batch) => (
            <Entry key={batch.batch_id} batch={batch} />
          ))}
        </ul>
      )}
      <MoreButton more={more} what="batches" />
    </section>
  )
}

function Entry({ batch: { batch_id: id, title, created_at: at } }: { batch: ListedBatch }) {
  const { data } = useQuery({
    queryKey: ['batch', id],
    queryFn: ({ signal }) => client.batches.get(id, { signal }),
  })
  return (
    <li className={classes.batch}>
      <Way to="/documents" search={{ batch: id }} className={classes.batchTitle}>
        {title ?? `Batch of ${formatMoment(at)}`}
      </Way>
      <Text size="xs" c="dimmed" className={classes.batchWhen}>
        <Moment at={at} />
      </Text>
      <div className={classes.batchState}>
        {data ? (
          <>
            <BatchBar counts={data} />
            <Text size="xs" c="dimmed">
              {batchLine(data)}
            </Text>
          </>
        ) : (
          <Skeleton height={10} width="60%" />
        )}
      </div>
    </li>
  )
}
