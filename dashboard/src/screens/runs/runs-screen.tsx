/** The runs: a live list with filters, all of them in the address, and acts on everything that a filter matches. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, useState } from 'react'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { type Search, textIn } from '../../search.ts'
import { useMay } from '../../session.tsx'
import { useShortcut } from '../../shell/shortcuts.tsx'
import { BulkBanner } from './bulk-banner.tsx'
import { BulkMenu } from './bulk-menu.tsx'
import { type Condition, conditionsIn, searchOf } from './filter.ts'
import { FilterBar } from './filter-bar.tsx'
import { RunTable, RunTableSkeleton } from './run-table.tsx'
import { useRunList } from './use-run-list.ts'
import { ViewsMenu } from './views-menu.tsx'

const BulkDialog = lazy(() => import('./bulk-dialog.tsx'))
const BulkProgressDialog = lazy(() => import('./bulk-progress-dialog.tsx'))

export default function RunsScreen() {
  const search: Search = useSearch({ strict: false })
  const navigate = useNavigate()
  const conditions = useMemo(() => conditionsIn(search), [search])
  const order = textIn(search, 'order') === 'created_at_asc' ? 'created_at_asc' : 'created_at_desc'
  const { list, error, again, refresh } = useRunList(conditions, order)
  const [bulkAction, setBulkAction] = useState<'cancel' | 'retry' | null>(null)
  const mayAct = useMay('submitter')
  const bulkId = textIn(search, 'bulk')

  const go = (wanted: readonly Condition[]) => {
    void navigate({ to: '.', search: { ...searchOf(wanted), order: search.order } })
  }
  const showBulk = (id: string | undefined) => {
    void navigate({ to: '.', search: { ...search, bulk: id }, resetScroll: false, replace: id === undefined })
  }
  useShortcut('r', 'Read the list again', () => {
    list?.touch()
    refresh()
  })

  return (
    <>
      <PageTitle title="Runs">
        <ViewsMenu conditions={conditions} order={order} />
        {mayAct && <BulkMenu onChoose={setBulkAction} />}
      </PageTitle>
      <FilterBar conditions={conditions} order={order} onChange={go} />
      <BulkBanner shownId={bulkId ?? null} />
      {error && <ErrorNotice error={error} onRetry={again} />}
      {list && (
        <RunTable
          key={order + JSON.stringify(conditions)}
          list={list}
          refresh={refresh}
          conditions={conditions}
          onChange={go}
        />
      )}
      {!list && !error && <RunTableSkeleton />}
      <Suspense>
        {bulkAction && (
          <BulkDialog
            action={bulkAction}
            conditions={conditions}
            onClose={() => setBulkAction(null)}
            onStarted={(id) => {
              setBulkAction(null)
              showBulk(id)
            }}
          />
        )}
        {bulkId !== undefined && <BulkProgressDialog operationId={bulkId} onClose={() => showBulk(undefined)} />}
      </Suspense>
    </>
  )
}
