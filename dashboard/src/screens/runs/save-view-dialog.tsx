/** Saves the present filter under a name, or renames a view and, when asked, gives it the present filter. */

import type { View } from '@holdfast/client'
import { Checkbox, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { DialogForm } from '../../parts/dialog-form.tsx'
import { say } from '../../shell/notices.tsx'
import { type Condition, conditionsOf, filterOf } from './filter.ts'
import { sentenceOf } from './filter-words.ts'
import type { Order } from './run-pages.ts'

type SaveViewDialogProps = {
  /** The one to change; null for a new one. */
  view: View | null
  conditions: readonly Condition[]
  order: Order
  onClose: () => void
}

export default function SaveViewDialog({ view, conditions, order, onClose }: SaveViewDialogProps) {
  const queries = useQueryClient()
  const [name, setName] = useState(view?.name ?? '')
  const [isShared, setShared] = useState(view?.shared ?? false)
  const [isPresent, setPresent] = useState(view === null)
  const kept = view && !isPresent ? { conditions: conditionsOf(view.filter), order: view.order } : { conditions, order }
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => {
      const wanted = { name: name.trim(), filter: filterOf(kept.conditions), order: kept.order, shared: isShared }
      return view ? client.views.replace(view.view_id, wanted) : client.views.create(wanted)
    },
    onSuccess: async (saved) => {
      await queries.invalidateQueries({ queryKey: ['views'] })
      say(`The view “${saved.name}” is saved.`)
      onClose()
    },
  })
  return (
    <Dialog isOpen onClose={onClose} title={view ? 'Change the view' : 'Save this view'}>
      <DialogForm
        act="Save"
        isPending={isPending}
        error={error}
        fields={[]}
        onAct={mutate}
        onClose={onClose}
        leave="Close"
        isReady={name.trim() !== ''}
      >
        <TextInput
          label="Name"
          required
          maxLength={128}
          autoFocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        {view && (
          <Checkbox
            label="Give it the filter and order of now"
            checked={isPresent}
            onChange={(event) => setPresent(event.currentTarget.checked)}
          />
        )}
        <Checkbox
          label="Others see it too"
          description="They see their own runs through it, not yours."
          checked={isShared}
          onChange={(event) => setShared(event.currentTarget.checked)}
        />
        <Text size="sm" c="dimmed">
          {kept.conditions.length === 0 ? 'All runs' : sentenceOf(kept.conditions)};{' '}
          {kept.order === 'created_at_asc' ? 'oldest first' : 'newest first'}.
        </Text>
      </DialogForm>
    </Dialog>
  )
}
