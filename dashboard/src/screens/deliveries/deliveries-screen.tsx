/** Deliveries: what webhooks, mail addresses and the stream were told, what did not arrive, and sending it again. */

import type { Delivery } from '@holdfast/client'
import { Alert } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { client } from '../../client.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { formatCount } from '../../parts/format.ts'
import { Loading } from '../../parts/loading.tsx'
import { MoreButton } from '../../parts/more-button.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { take } from '../../parts/take.ts'
import { useAddress } from '../../parts/use-address.ts'
import { useMore } from '../../parts/use-more.ts'
import { Way } from '../../parts/way.tsx'
import { textIn } from '../../search.ts'
import classes from './deliveries.module.css'
import { DeliveriesTable } from './deliveries-table.tsx'
import { DeliveryDialog } from './delivery-dialog.tsx'
import { DeliveryFilters } from './delivery-filters.tsx'
import { filterIn } from './delivery-words.ts'
import { useReceivers } from './use-receivers.ts'

const EVERY_MS = 5_000
const DEAD_COUNTED_MAX = 100

export default function DeliveriesScreen() {
  const address = useAddress()
  const { search, change } = address
  const filter = filterIn(search)
  const receivers = useReceivers()
  const names = new Map(receivers.map(({ id, name }) => [id, name]))
  const more = useMore<Delivery>(['deliveries', filter], (signal) => client.deliveries.list(filter, { signal }), {
    everyMs: EVERY_MS,
  })
  const { delivery: _, ...listSearch } = search
  const opened = textIn(search, 'delivery')
  return (
    <>
      <PageTitle title="Deliveries" note="What webhooks and mail addresses were told, and how it went" />
      <Dead isShown={filter.state !== 'DEAD'} />
      <DeliveryFilters address={address} receivers={receivers} />
      {more.error && <ErrorNotice error={more.error} onRetry={more.refetch} />}
      {more.items === undefined && !more.error && <Loading label="Reading deliveries" />}
      {more.items && more.items.length > 0 && (
        <DeliveriesTable deliveries={more.items} names={names} search={listSearch} isOld={more.isOld} />
      )}
      {more.items?.length === 0 && !more.isCut && <Nothing isFiltered={Object.keys(filter).length > 0} />}
      <MoreButton more={more} what="deliveries" />
      {opened && (
        <DeliveryDialog
          key={opened}
          deliveryId={opened}
          names={names}
          onClose={() => change({ delivery: undefined })}
        />
      )}
    </>
  )
}

/** What did not arrive is said first, whatever is being looked at. */
function Dead({ isShown }: { isShown: boolean }) {
  const { data } = useQuery({
    queryKey: ['deliveries', 'dead'],
    queryFn: ({ signal }) =>
      take((ended) => client.deliveries.list({ state: 'DEAD' }, { signal: ended }), DEAD_COUNTED_MAX, {
        signal,
        budgetMs: 5_000,
      }),
    refetchInterval: EVERY_MS * 2,
  })
  const count = data?.items.length ?? 0
  if (!isShown || count === 0) return null
  return (
    <Alert color="red" variant="light" mb="md" title={`✕ ${formatCount(count, data?.hasMore)} did not arrive`}>
      They were tried for the last time. Find out why, then send them again.{' '}
      <Way to="/deliveries" search={{ state: 'DEAD' }} className={classes.inText}>
        Show the dead ones
      </Way>
    </Alert>
  )
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <EmptyState title="Nothing fits">Choose other filters, or show all deliveries.</EmptyState>
  return (
    <EmptyState title="Nothing was delivered yet">
      Deliveries appear when something happens that a webhook or a mail address wants to hear of. Add one under{' '}
      <Way to="/receivers" className={classes.inText}>
        Webhooks and mail
      </Way>
      .
    </EmptyState>
  )
}
