/** What can be done with a webhook: a test, changes, a new secret, enabling and disabling it, deleting it. */

import type { Webhook } from '@holdfast/client'
import { Button, Group } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { MoreIcon } from '../../parts/icons.tsx'
import { Menu, MenuItem } from '../../parts/menu.tsx'
import { say, sayError } from '../../shell/notices.tsx'
import classes from './receivers.module.css'
import { RotateDialog } from './rotate-dialog.tsx'
import { sayTest } from './say-test.tsx'
import { WebhookDialog } from './webhook-dialog.tsx'

type Act = 'change' | 'rotate' | 'disable' | 'delete'

export function WebhookActs({ webhook }: { webhook: Webhook }) {
  const { webhook_id: id, url, enabled } = webhook
  const [act, setAct] = useState<Act | null>(null)
  const queries = useQueryClient()
  const test = useMutation({
    mutationFn: () => client.webhooks.test(id),
    onSuccess: ({ delivery_id }) => sayTest(delivery_id),
    onError: sayError,
  })
  const enable = useMutation({
    mutationFn: () => client.webhooks.change(id, { enabled: true }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['webhooks'] })
      say('The webhook is enabled: what waited is sent now.')
    },
    onError: sayError,
  })
  return (
    <Group gap={4} wrap="nowrap">
      {enabled ? (
        <Button size="compact-xs" variant="default" loading={test.isPending} onClick={() => test.mutate()}>
          Send a test
        </Button>
      ) : (
        <Button size="compact-xs" variant="default" loading={enable.isPending} onClick={() => enable.mutate()}>
          Enable again
        </Button>
      )}
      <Menu label={`More acts on ${url}`} className={classes.menu} trigger={<MoreIcon />}>
        <MenuItem onClick={() => setAct('change')}>Change</MenuItem>
        <MenuItem onClick={() => setAct('rotate')}>New secret</MenuItem>
        {enabled && <MenuItem onClick={() => setAct('disable')}>Disable</MenuItem>}
        <MenuItem onClick={() => setAct('delete')}>Delete</MenuItem>
      </Menu>
      {act === 'change' && <WebhookDialog webhook={webhook} onClose={() => setAct(null)} />}
      {act === 'rotate' && <RotateDialog webhook={webhook} onClose={() => setAct(null)} />}
      {act === 'disable' && <DisableDialog webhook={webhook} onClose={() => setAct(null)} />}
      {act === 'delete' && <DeleteDialog webhook={webhook} onClose={() => setAct(null)} />}
    </Group>
  )
}

type DialogProps = { webhook: Webhook; onClose: () => void }

function DisableDialog({ webhook, onClose }: DialogProps) {
  const queries = useQueryClient()
  const disable = async () => {
    await client.webhooks.change(webhook.webhook_id, { enabled: false })
    await queries.invalidateQueries({ queryKey: ['webhooks'] })
    say('The webhook is disabled.')
  }
  return (
    <ConfirmDialog isOpen title="Disable this webhook?" act="Disable it" onAct={disable} onClose={onClose}>
      Nothing is sent to <strong>{webhook.url}</strong> until it is enabled again. It does not hear of what happens
      meanwhile; what waits to be sent keeps waiting.
    </ConfirmDialog>
  )
}

function DeleteDialog({ webhook, onClose }: DialogProps) {
  const queries = useQueryClient()
  const remove = async () => {
    await client.webhooks.delete(webhook.webhook_id)
    await queries.invalidateQueries({ queryKey: ['webhooks'] })
    await queries.invalidateQueries({ queryKey: ['receivers'] })
    say('The webhook is gone.')
  }
  return (
    <ConfirmDialog isOpen title="Delete this webhook?" act="Delete the webhook" onAct={remove} onClose={onClose}>
      <strong>{webhook.url}</strong> hears of nothing more. Everything that was sent to it or waits to be sent is
      deleted too, and so is its secret.
    </ConfirmDialog>
  )
}
