/** The form inside a dialog: its fields, what went wrong, and the two ways out. Enter in a field does what the button does. */

import { Button, Group, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { FormError } from './form-error.tsx'

export function DialogForm(props: DialogFormProps) {
  const { act, isPending, isReady = true, leave = 'Keep as it is', error, fields, onAct, onClose, children } = props
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onAct()
      }}
    >
      <Stack gap="sm">
        {children}
        <FormError error={error} fields={fields} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {leave}
          </Button>
          <Button type="submit" loading={isPending} disabled={!isReady}>
            {act}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

type DialogFormProps = {
  /** What the button says, such as "Make the rule". */
  act: string
  isPending: boolean
  isReady?: boolean
  /** What the other button says. */
  leave?: string
  error: unknown
  /** Those that say themselves what is wrong with them. */
  fields: readonly string[]
  onAct: () => void
  onClose: () => void
  children: ReactNode
}
