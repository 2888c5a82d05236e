/**
 * Makes a token and shows it once. It is in the memory of this window only, and gone when that closes.
 *
 * The first token ends open access. So that the page does not lock its own user out with the token still on the screen,
 * an open page signs in with the new token at once.
 */

import type { NewToken, Session, TokenRole } from '@holdfast/client'
import { Alert, NativeSelect, Radio, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { DialogForm } from '../../parts/dialog-form.tsx'
import { fieldErrors } from '../../parts/field-errors.ts'
import { ShownOnce } from '../../parts/shown-once.tsx'
import { useSession } from '../../session.tsx'
import { bodyOf, EXPIRY_CHOICES, ROLE_WORDS, ROLES, type TokenForm } from './token-words.ts'

const FIELDS = ['owner', 'name', 'queues', 'expires_in_seconds']

export function NewTokenDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [made, setMade] = useState<NewToken | null>(null)
  const close = () => {
    setMade(null)
    onClose()
    // Only now: the page may lead to the sign-in, and the token must have been kept before.
    void queries.invalidateQueries({ queryKey: ['session'] })
    void queries.invalidateQueries({ queryKey: ['tokens'] })
  }
  return (
    <Dialog isOpen title={made ? `Token “${made.name}”` : 'New token'} onClose={close}>
      {made ? (
        <ShownOnce label="token" text={made.token} onDone={close}>
          <Text size="sm">
            Programs send it as <code>Authorization: Bearer …</code>; people sign in to this dashboard with it.
          </Text>
        </ShownOnce>
      ) : (
        <TokenFields onMade={setMade} onClose={onClose} />
      )}
    </Dialog>
  )
}

function TokenFields({ onMade, onClose }: { onMade: (token: NewToken) => void; onClose: () => void }) {
  const session = useSession()
  const isOpen = session.mode === 'open'
  const [form, setForm] = useState<TokenForm>({
    role: isOpen ? 'admin' : 'submitter',
    owner: session.owner ?? '',
    name: '',
    expiresIn: '',
    queues: '',
  })
  const { mutate, isPending, error } = useMutation({ mutationFn: () => makeToken(form, session), onSuccess: onMade })
  return (
    <DialogForm
      act="Make the token"
      isPending={isPending}
      error={error}
      fields={FIELDS}
      onAct={mutate}
      onClose={onClose}
      leave="Make none"
    >
      {isOpen && <OpenNotice role={form.role} />}
      <RoleField role={form.role} onChange={(role) => setForm({ ...form, role })} />
      <TextFields form={form} error={error} onChange={setForm} />
    </DialogForm>
  )
}

async function makeToken(form: TokenForm, session: Session): Promise<NewToken> {
  const made = await client.tokens.create(bodyOf(form))
  // If that fails the token is shown all the same.
  if (session.mode === 'open') await client.session.start(made.token).catch(() => undefined)
  return made
}

function OpenNotice({ role }: { role: TokenRole }) {
  return (
    <Alert color="yellow" variant="light" title="⚠ The first token ends open access">
      From then on everyone needs a token, unless the service was told to stay open.{' '}
      {role === 'admin'
        ? 'This page stays signed in with the new one.'
        : 'Make one for an administrator first: with this one nobody can make more tokens here.'}
    </Alert>
  )
}

function RoleField({ role, onChange }: { role: TokenRole; onChange: (role: TokenRole) => void }) {
  return (
    <Radio.Group label="Role" value={role} onChange={(value) => onChange(value as TokenRole)}>
      <Stack gap={8} mt={6}>
        {ROLES.map((name) => (
          <Radio key={name} size="xs" value={name} label={name} description={ROLE_WORDS[name]} />
        ))}
      </Stack>
    </Radio.Group>
  )
}

type TextFieldsProps = { form: TokenForm; error: unknown; onChange: (form: TokenForm) => void }

function TextFields({ form, error, onChange }: TextFieldsProps) {
  const wrong = fieldErrors(error)
  const set = (name: keyof TokenForm) => (event: { currentTarget: { value: string } }) =>
    onChange({ ...form, [name]: event.currentTarget.value })
  return (
    <>
      <TextInput
        label="Owner"
        description="Runs made with it belong to this name"
        required
        value={form.owner}
        error={wrong.owner}
        onChange={set('owner')}
      />
      <TextInput
        label="Name"
        placeholder="Such as: laptop, nightly import"
        value={form.name}
        error={wrong.name}
        onChange={set('name')}
      />
      {form.role === 'worker' && (
        <TextInput
          label="Queues"
          description="The only ones it may take runs from, with commas between; empty for all"
          value={form.queues}
          error={wrong.queues}
          onChange={set('queues')}
        />
      )}
      <NativeSelect
        label="Ends"
        value={form.expiresIn}
        error={wrong.expires_in_seconds}
        data={EXPIRY_CHOICES}
        onChange={set('expiresIn')}
      />
    </>
  )
}
