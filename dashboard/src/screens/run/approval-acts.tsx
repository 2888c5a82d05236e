/** An operator's word on a run that waits for it. */

import type { Run } from '@holdfast/client'
import { Button, Group, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { useMay } from '../../session.tsx'
import { say } from '../../shell/notices.tsx'

export function ApprovalActs({ run }: { run: Run }) {
  const may = useMay('operator')
  const [asked, setAsked] = useState<'approve' | 'reject' | null>(null)
  if (!may) return <Text size="sm">An operator has to approve it.</Text>
  return (
    <>
      <Group gap="xs">
        <Button size="xs" onClick={() => setAsked('approve')}>
          Approve…
        </Button>
        <Button size="xs" variant="default" onClick={() => setAsked('reject')}>
          Reject…
        </Button>
      </Group>
      <Decision run={run} verb={asked ?? 'approve'} isOpen={asked !== null} onClose={() => setAsked(null)} />
    </>
  )
}

type DecisionProps = { run: Run; verb: 'approve' | 'reject'; isOpen: boolean; onClose: () => void }

function Decision({ run, verb, isOpen, onClose }: DecisionProps) {
  const queries = useQueryClient()
  const [reason, setReason] = useState('')
  const act = async () => {
    const given = reason.trim() === '' ? {} : { reason: reason.trim() }
    queries.setQueryData(['run', run.run_id], await client[verb](run.run_id, given))
    void queries.invalidateQueries({ queryKey: ['run', run.run_id] })
    setReason('')
    say(verb === 'approve' ? 'The run is approved.' : 'The run is rejected.')
  }
  return (
    <ConfirmDialog
      isOpen={isOpen}
      title={verb === 'approve' ? 'Approve this run?' : 'Reject this run?'}
      act={verb === 'approve' ? 'Approve' : 'Reject'}
      isDestructive={verb === 'reject'}
      onAct={act}
      onClose={onClose}
    >
      {verb === 'approve'
        ? 'It goes on as if the limit were not there: at once, at the time it asked for, or into the line of its concurrency key.'
        : 'It is cancelled and will not start. Its owner sees the reason.'}
      <TextInput
        mt="sm"
        label="Reason (optional)"
        value={reason}
        maxLength={500}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </ConfirmDialog>
  )
}
