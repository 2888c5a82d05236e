/** A secret that the service tells once: it is here until the window is closed, and nowhere else. */

import { Alert, Button, Code, Group, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyButton } from './copy-button.tsx'

export function ShownOnce({ label, text, onDone, children }: ShownOnceProps) {
  return (
    <Stack gap="md">
      <Alert color="yellow" variant="light" title={`⚠ Copy the ${label} now`}>
        It is shown this once. Nobody can show it again, not even an administrator.
      </Alert>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <Code block flex={1} style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }} aria-label={`The ${label}`}>
          {text}
        </Code>
        <CopyButton text={text} label={`Copy the ${label}`} />
      </Group>
      {children}
      <Group justify="flex-end">
        <Button onClick={onDone}>I have kept it</Button>
      </Group>
    </Stack>
  )
}

type ShownOnceProps = { label: string; text: string; onDone: () => void; children?: ReactNode }
