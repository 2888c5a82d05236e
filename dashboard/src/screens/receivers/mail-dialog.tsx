/** Adds a mail address, or says anew what one is told about. */

import type { MailKind, Recipient } from '@holdfast/client'
import { Checkbox, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { DialogForm } from '../../parts/dialog-form.tsx'
import { fieldErrors } from '../../parts/field-errors.ts'
import { MAIL_KINDS, MAIL_WORDS } from '../../parts/kind-words.ts'
import { useMay, useSession } from '../../session.tsx'
import { say } from '../../shell/notices.tsx'
import { KindsField } from './kinds-field.tsx'

const FIELDS = ['address', 'kinds']

type MailForm = { address: string; kinds: MailKind[]; isForEveryone: boolean }

type MailDialogProps = {
  /** The one to change; none for a new one. */
  recipient: Recipient | null
  onClose: () => void
}

export function MailDialog({ recipient, onClose }: MailDialogProps) {
  const [form, setForm] = useState<MailForm>({
    address: recipient?.address ?? '',
    kinds: recipient?.kinds ?? MAIL_KINDS,
    isForEveryone: recipient?.owner === '*',
  })
  const { mutate, isPending, error } = useSave(form, onClose)
  const mayTellAll = useMay('operator')
  const wrong = fieldErrors(error)
  return (
    <Dialog isOpen title={recipient ? 'What this address is told' : 'New mail address'} onClose={onClose}>
      <DialogForm
        act={recipient ? 'Change it' : 'Add the address'}
        isPending={isPending}
        error={error}
        fields={FIELDS}
        onAct={mutate}
        onClose={onClose}
      >
        <TextInput
          label="Mail address"
          placeholder="ada@example.org"
          inputMode="email"
          required
          readOnly={recipient !== null}
          autoFocus={recipient === null}
          value={form.address}
          error={wrong.address}
          onChange={(event) => setForm({ ...form, address: event.currentTarget.value })}
        />
        <KindsField
          label="Tell it about"
          words={MAIL_WORDS}
          chosen={form.kinds}
          error={wrong.kinds}
          onChange={(kinds) => setForm({ ...form, kinds })}
        />
        {recipient === null && mayTellAll && (
          <Checkbox
            label="It is told about everyone’s documents, not only about mine"
            checked={form.isForEveryone}
            onChange={(event) => setForm({ ...form, isForEveryone: event.currentTarget.checked })}
          />
        )}
      </DialogForm>
    </Dialog>
  )
}

function useSave({ address, kinds, isForEveryone }: MailForm, onClose: () => void) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () =>
      client.recipients.put({ address: address.trim(), kinds, ...(isForEveryone && { owner: '*' as const }) }),
    onSuccess: async (saved) => {
      await queries.invalidateQueries({ queryKey: ['recipients'] })
      await queries.invalidateQueries({ queryKey: ['receivers'] })
      say(`${saved.address} gets mail from now on.`)
      onClose()
    },
  })
}

/** Changing is adding again, which only works for one's own addresses and for those of everyone. */
export function useMayChange({ owner }: Recipient): boolean {
  const { owner: own } = useSession()
  const mayTellAll = useMay('operator')
  const mayWrite = useMay('submitter')
  return mayWrite && (owner === own || (owner === '*' && mayTellAll))
}
