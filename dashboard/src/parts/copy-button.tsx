/** Copies a text and says that it did. A text that is costly to make is given as a function. */

import { ActionIcon } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { Hint } from './hint.tsx'
import { CheckIcon, CopyIcon } from './icons.tsx'

export function CopyButton({ text, label }: { text: string | (() => string); label: string }) {
  const { copied, copy } = useClipboard({ timeout: 1_500 })
  const words = copied ? 'Copied' : label
  return (
    <Hint text={words}>
      <ActionIcon
        size="sm"
        variant="subtle"
        color="gray"
        aria-label={words}
        onClick={() => copy(typeof text === 'string' ? text : text())}
      >
        {copied ? <CheckIcon /> : <CopyIcon />}
      </ActionIcon>
    </Hint>
  )
}
