/** The heading of a screen, the title of the tab, and beside it the acts that concern the whole screen. */

import { Group, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'

export function PageTitle({ title, tab, note, children }: PageTitleProps) {
  useEffect(() => {
    document.title = `${tab ?? title} · Holdfast`
  }, [tab, title])
  return (
    <Group justify="space-between" align="center" gap="sm" mb="md">
      <div style={{ minWidth: 0 }}>
        <Title order={1} style={{ overflowWrap: 'anywhere' }}>
          {title}
        </Title>
        {note && (
          <Text size="sm" c="dimmed" component="div">
            {note}
          </Text>
        )}
      </div>
      {children && <Group gap="xs">{children}</Group>}
    </Group>
  )
}

type PageTitleProps = {
  title: string
  /** Of the tab, when it is to say something else. */
  tab?: string
  note?: ReactNode
  children?: ReactNode
}
