/** Asks before something that cannot be taken back. What it does and to how many is said in its text. */

import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Dialog } from './dialog.tsx'
import { ErrorNotice } from './error-notice.tsx'

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { isOpen, title, act, onAct, onClose, isDestructive = true, children } = props
  const { mutate, isPending, error, reset } = useMutation({ mutationFn: onAct, onSuccess: onClose })
  const close = () => {
    reset()
    onClose()
  }
  return (
    <Dialog isOpen={isOpen} onClose={close} title={title}>
      <Stack gap="md">
        <Text size="sm" component="div">
          {children}
        </Text>
        {error && <ErrorNotice error={error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close} autoFocus>
            Keep as it is
          </Button>
          <Button color={isDestructive ? 'red' : undefined} loading={isPending} onClick={() => mutate()}>
            {act}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

type ConfirmDialogProps = {
  isOpen: boolean
  title: string
  /** What the button says, such as "Cancel 12 runs". */
  act: string
  onAct: () => Promise<unknown>
  onClose: () => void
  isDestructive?: boolean
  children: ReactNode
}
