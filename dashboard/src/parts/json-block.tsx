/** A small value as JSON, as text. What is large belongs into a viewer that shows it piece by piece. */

import { Group, Text } from '@mantine/core'
import { CopyButton } from './copy-button.tsx'
import classes from './json-block.module.css'

const SHOWN_CHARACTERS_MAX = 40_000

export function JsonBlock({ label, value }: { label: string; value: unknown }) {
  return <TextBlock label={label} text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} />
}

export function TextBlock({ label, text }: { label: string; text: string }) {
  const shown = text.slice(0, SHOWN_CHARACTERS_MAX)
  return (
    <div className={classes.block}>
      <Group justify="space-between" gap="xs" className={classes.head}>
        <Text size="xs" c="dimmed" fw={600}>
          {label}
        </Text>
        <CopyButton text={text} label={`Copy: ${label}`} />
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by those who have only keys */}
      <pre className={classes.text} tabIndex={0}>
        {shown}
        {shown.length < text.length && `\n… ${text.length - shown.length} more characters: copy it to see them`}
      </pre>
    </div>
  )
}
