/** The secret of a webhook, once, and what it is for. */

import { Text } from '@mantine/core'
import { ShownOnce } from '../../parts/shown-once.tsx'

export function NewSecret({ secret, onDone }: { secret: string; onDone: () => void }) {
  return (
    <ShownOnce label="secret" text={secret} onDone={onDone}>
      <Text size="sm">
        Give it to the program that receives the messages: with it the program checks that a message comes from here.
        The signature is that of Standard Webhooks.
      </Text>
    </ShownOnce>
  )
}
