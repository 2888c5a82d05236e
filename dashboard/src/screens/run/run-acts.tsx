/** What can be done with the whole run: by those who may, and only while it can be. */

import type { Run, Step } from '@holdfast/client'
import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { client } from '../../client.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { ChevronDownIcon, CompareIcon, RetryIcon } from '../../parts/icons.tsx'
import { Menu, MenuItem } from '../../parts/menu.tsx'
import { useMay } from '../../session.tsx'
import { say, sayError } from '../../shell/notices.tsx'
import { useShortcut } from '../../shell/shortcuts.tsx'
import { isActive } from './run-data.ts'

export function RunActs({ run, steps }: { run: Run; steps: Step[] }) {
  const may = useMay('submitter')
  const { run_id, retry_of } = run
  return (
    <>
      {may && isActive(run) && <CancelAct run={run} />}
      {may && !isActive(run) && <RetryAct run={run} steps={steps} />}
      {may && <EditAct runId={run_id} />}
      <Button
        size="xs"
        variant="default"
        component={Link}
        to="/compare"
        search={{ a: retry_of ?? run_id, ...(retry_of && { b: run_id }) } as never}
        leftSection={<CompareIcon size={14} />}
      >
        {retry_of ? 'Compare with the run before' : 'Compare with…'}
      </Button>
    </>
  )
}

function EditAct({ runId }: { runId: string }) {
  const navigate = useNavigate()
  const search = { from: runId }
  useShortcut('e', 'Edit and run again', () => void navigate({ to: '/submit', search }))
  return (
    <Button size="xs" variant="default" component={Link} to="/submit" search={search as never}>
      Edit and run again
    </Button>
  )
}

function CancelAct({ run }: { run: Run }) {
  const [isOpen, setOpen] = useState(false)
  const queries = useQueryClient()
  const isStopping = run.cancel_requested_at !== null
  useShortcut('c', 'Cancel this run', () => setOpen(!isStopping))
  const cancel = async () => {
    try {
      const after = await client.cancel(run.run_id)
      queries.setQueryData(['run', run.run_id], after)
      say(after.status === 'CANCELLED' ? 'The run is cancelled.' : 'The run was asked to stop.')
    } finally {
      // It may have ended meanwhile, which is what the refusal says; then that is shown.
      void queries.invalidateQueries({ queryKey: ['run', run.run_id] })
    }
  }
  return (
    <>
      <Button size="xs" variant="light" color="red" disabled={isStopping} onClick={() => setOpen(true)}>
        {isStopping ? 'Stopping…' : 'Cancel'}
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        title="Cancel this run?"
        act="Cancel the run"
        onAct={cancel}
        onClose={() => setOpen(false)}
      >
        {run.status === 'PENDING'
          ? 'It has not started and ends at once. It can be retried later.'
          : 'Its worker is told to stop it. What its steps have finished is kept for a retry; if the run finishes first, its result stands.'}
      </ConfirmDialog>
    </>
  )
}

function RetryAct({ run, steps }: { run: Run; steps: Step[] }) {
  const navigate = useNavigate()
  const { mutate, mutateAsync, isPending } = useMutation({
    mutationFn: (from: From) => client.retry(run.run_id, { from }),
    onSuccess: ({ runId, wasDuplicate }) => {
      say(wasDuplicate ? 'A retry of this run is active already: this is it.' : 'This is the new run.')
      void navigate({ to: '/runs/$runId', params: { runId } as never })
    },
    onError: sayError,
  })
  const hasSteps = run.status !== 'SUCCEEDED' && steps.some(({ state }) => state === 'SUCCEEDED')
  return (
    <>
      <RetryKey from={hasSteps ? 'failed_step' : 'start'} retry={mutateAsync} />
      <RetryButton hasSteps={hasSteps} isPending={isPending} retry={mutate} />
    </>
  )
}

type From = 'start' | 'failed_step'

/** A key is easily pressed by mistake, so it asks. */
function RetryKey({ from, retry }: { from: From; retry: (from: From) => Promise<unknown> }) {
  const [isOpen, setOpen] = useState(false)
  useShortcut('r', 'Retry this run', () => setOpen(true))
  return (
    <ConfirmDialog
      isOpen={isOpen}
      title="Retry this run?"
      act="Retry"
      isDestructive={false}
      onAct={() => retry(from)}
      onClose={() => setOpen(false)}
    >
      {from === 'start'
        ? 'A new run of the same input begins from the start.'
        : 'A new run of the same input keeps the steps that are done and goes on with the first that is not.'}
    </ConfirmDialog>
  )
}

function RetryButton({ hasSteps, isPending, retry }: RetryButtonProps) {
  if (hasSteps) {
    return (
      <Menu
        trigger={
          <>
            <RetryIcon size={14} /> Retry <ChevronDownIcon size={12} />
          </>
        }
      >
        <MenuItem isDisabled={isPending} onClick={() => retry('failed_step')}>
          From the failed step
        </MenuItem>
        <MenuItem isDisabled={isPending} onClick={() => retry('start')}>
          From the start
        </MenuItem>
      </Menu>
    )
  }
  return (
    <Button
      size="xs"
      variant="default"
      loading={isPending}
      leftSection={<RetryIcon size={14} />}
      onClick={() => retry('start')}
    >
      Retry
    </Button>
  )
}

type RetryButtonProps = { hasSteps: boolean; isPending: boolean; retry: (from: From) => void }
