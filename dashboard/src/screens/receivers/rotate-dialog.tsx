/** Gives a webhook a new secret, and shows it once. */

import type { NewWebhook, Webhook } from '@holdfast/client'
import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { NewSecret } from './new-secret.tsx'
import { OLD_SECRET_CHOICES } from './receiver-words.ts'

export function RotateDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const queries = useQueryClient()
  const [made, setMade] = useState<NewWebhook | null>(null)
  const [oldSeconds, setOldSeconds] = useState('86400')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => client.webhooks.rotateSecret(webhook.webhook_id, { oldSecretSeconds: Number(oldSeconds) }),
    onSuccess: (changed) => {
      setMade(changed)
      void queries.invalidateQueries({ queryKey: ['webhooks'] })
    },
  })
  return (
    <Dialog isOpen title={made ? 'The new secret' : 'Give it a new secret?'} onClose={onClose}>
      {made ? (
        <NewSecret secret={made.secret} onDone={onClose} />
      ) : (
        <Stack gap="md">
          <Text size="sm">
            Messages to <strong>{webhook.url}</strong> are signed with a new secret from now on. So long as the old one
            signs too, a program that knows either of them can check them.
          </Text>
          <NativeSelect
            label="The old secret signs too"
            value={oldSeconds}
            data={OLD_SECRET_CHOICES}
            onChange={(event) => setOldSeconds(event.currentTarget.value)}
          />
          {error && <ErrorNotice error={error} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose} autoFocus>
              Keep as it is
            </Button>
            <Button color="red" loading={isPending} onClick={() => mutate()}>
              Make a new secret
            </Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  )
}
