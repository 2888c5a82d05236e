/** Something is on its way. Said to screen readers too. */

import { Center, Loader, Text } from '@mantine/core'

export function Loading({ label }: { label: string }) {
  return (
    <Center mih={160} role="status" style={{ gap: 10 }}>
      <Loader size="sm" aria-hidden />
      <Text size="sm" c="dimmed">
        {label}…
      </Text>
    </Center>
  )
}
