/** The views one may change: rename, replace, delete. */

import type { View } from '@holdfast/client'
import { Button, Group, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import table from '../../parts/table.module.css'
import { useMay, useSession } from '../../session.tsx'
import { say } from '../../shell/notices.tsx'
import { type Condition, conditionsOf } from './filter.ts'
import { sentenceOf } from './filter-words.ts'
import type { Order } from './run-pages.ts'
import SaveViewDialog from './save-view-dialog.tsx'

type ManageViewsDialogProps = {
  views: readonly View[]
  conditions: readonly Condition[]
  order: Order
  onClose: () => void
}

export default function ManageViewsDialog({ views, conditions, order, onClose }: ManageViewsDialogProps) {
  const queries = useQueryClient()
  const [changed, setChanged] = useState<View | null>(null)
  const [deleted, setDeleted] = useState<View | null>(null)
  const remove = async () => {
    await client.views.remove(deleted!.view_id)
    await queries.invalidateQueries({ queryKey: ['views'] })
    say(`The view “${deleted!.name}” is deleted.`)
  }
  if (changed) {
    return <SaveViewDialog view={changed} conditions={conditions} order={order} onClose={() => setChanged(null)} />
  }
  if (deleted) {
    return (
      <ConfirmDialog
        isOpen
        title="Delete the view"
        act="Delete the view"
        onAct={remove}
        onClose={() => setDeleted(null)}
      >
        The view “<bdi>{deleted.name}</bdi>” goes away{deleted.shared ? ' for everyone it is shared with' : ''}. No run
        is touched.
      </ConfirmDialog>
    )
  }
  return (
    <Dialog isOpen onClose={onClose} title="Views" size="lg">
      {views.length === 0 && <Text size="sm">There are no views.</Text>}
      <div className={table.box}>
        <table className={table.table}>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Filter</th>
              <th scope="col">Owner</th>
              <th scope="col">Acts</th>
            </tr>
          </thead>
          <tbody>
            {views.map((view) => (
              <ViewRow key={view.view_id} view={view} onChange={setChanged} onDelete={setDeleted} />
            ))}
          </tbody>
        </table>
      </div>
    </Dialog>
  )
}

type ViewRowProps = { view: View; onChange: (view: View) => void; onDelete: (view: View) => void }

function ViewRow({ view, onChange, onDelete }: ViewRowProps) {
  const { owner } = useSession()
  const isOperator = useMay('operator')
  const conditions = conditionsOf(view.filter)
  return (
    <tr>
      <td>
        <bdi>{view.name}</bdi>
      </td>
      <td>{conditions.length === 0 ? 'All runs' : sentenceOf(conditions)}</td>
      <td>
        {view.owner}
        {view.shared ? ', shared' : ''}
      </td>
      <td>
        {(isOperator || view.owner === owner) && (
          <Group gap={6} wrap="nowrap">
            <Button
              size="compact-xs"
              variant="default"
              onClick={() => onChange(view)}
              aria-label={`Change ${view.name}`}
            >
              Change
            </Button>
            <Button
              size="compact-xs"
              variant="default"
              onClick={() => onDelete(view)}
              aria-label={`Delete ${view.name}`}
            >
              Delete
            </Button>
          </Group>
        )}
      </td>
    </tr>
  )
}
