/** Nothing here: why, and what to do about it. */

import { Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Stack align="center" gap={6} py={48} px="md" ta="center">
      <Text fw={600}>{title}</Text>
      {children && (
        <Text size="sm" c="dimmed" component="div" maw={520}>
          {children}
        </Text>
      )}
    </Stack>
  )
}
