/** Registers a webhook, and shows its secret once; or changes where one goes and what it hears of. */

import type { FactKind, NewWebhook, Webhook } from '@holdfast/client'
import { Checkbox, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { DialogForm } from '../../parts/dialog-form.tsx'
import { fieldErrors } from '../../parts/field-errors.ts'
import { FACT_WORDS } from '../../parts/kind-words.ts'
import { useMay } from '../../session.tsx'
import { say } from '../../shell/notices.tsx'
import { KindsField } from './kinds-field.tsx'
import { NewSecret } from './new-secret.tsx'

const FIELDS = ['url', 'events', 'description']

type WebhookForm = { url: string; events: FactKind[]; description: string; isForEveryone: boolean }

type WebhookDialogProps = {
  /** The one to change; none for a new one. */
  webhook: Webhook | null
  onClose: () => void
}

export function WebhookDialog({ webhook, onClose }: WebhookDialogProps) {
  const [made, setMade] = useState<NewWebhook | null>(null)
  const title = made ? 'The webhook is registered' : webhook ? 'Change the webhook' : 'New webhook'
  return (
    <Dialog isOpen size="lg" title={title} onClose={onClose}>
      {made ? (
        <NewSecret secret={made.secret} onDone={onClose} />
      ) : (
        <WebhookFields webhook={webhook} onMade={setMade} onClose={onClose} />
      )}
    </Dialog>
  )
}

function WebhookFields({ webhook, onMade, onClose }: WebhookDialogProps & { onMade: (made: NewWebhook) => void }) {
  const [form, setForm] = useState<WebhookForm>(() => formOf(webhook))
  const { mutate, isPending, error } = useSave(webhook, form, onMade, onClose)
  const mayHearAll = useMay('operator')
  const wrong = fieldErrors(error)
  return (
    <DialogForm
      act={webhook ? 'Change the webhook' : 'Register the webhook'}
      isPending={isPending}
      error={error}
      fields={FIELDS}
      onAct={mutate}
      onClose={onClose}
    >
      <TextInput
        label="Address"
        description="Where the messages are sent, with https. Keep secrets out of it: it is shown to others."
        placeholder="https://hooks.example.org/holdfast"
        inputMode="url"
        required
        autoFocus
        value={form.url}
        error={wrong.url}
        onChange={(event) => setForm({ ...form, url: event.currentTarget.value })}
      />
      <KindsField
        label="Tell it when"
        words={FACT_WORDS}
        chosen={form.events}
        error={wrong.events}
        onChange={(events) => setForm({ ...form, events })}
      />
      <TextInput
        label="Description"
        placeholder="For people: what it is good for"
        value={form.description}
        error={wrong.description}
        onChange={(event) => setForm({ ...form, description: event.currentTarget.value })}
      />
      {webhook === null && mayHearAll && (
        <Checkbox
          label="It hears of everyone’s runs, not only of mine"
          checked={form.isForEveryone}
          onChange={(event) => setForm({ ...form, isForEveryone: event.currentTarget.checked })}
        />
      )}
    </DialogForm>
  )
}

function formOf(webhook: Webhook | null): WebhookForm {
  if (webhook === null)
    return { url: '', events: ['run.succeeded', 'run.failed'], description: '', isForEveryone: false }
  const { url, events, description, owner } = webhook
  return { url, events, description: description ?? '', isForEveryone: owner === '*' }
}

function useSave(webhook: Webhook | null, form: WebhookForm, onMade: (made: NewWebhook) => void, onClose: () => void) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async () => {
      const { url, events, isForEveryone } = form
      const body = { url: url.trim(), events, description: form.description.trim() || null }
      if (webhook) return client.webhooks.change(webhook.webhook_id, body)
      return client.webhooks.create({ ...body, ...(isForEveryone && { owner: '*' as const }) })
    },
    onSuccess: async (saved) => {
      if ('secret' in saved) onMade(saved as NewWebhook)
      await queries.invalidateQueries({ queryKey: ['webhooks'] })
      await queries.invalidateQueries({ queryKey: ['receivers'] })
      if ('secret' in saved) return
      say('The webhook is changed.')
      onClose()
    },
  })
}
