/** A mail as its reader has it. Its HTML is shown as source only: nothing of it is drawn or loaded here. */

import type { DeliveryMail as Mail } from '@holdfast/client'
import { Button, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { TextBlock } from '../../parts/json-block.tsx'
import classes from './deliveries.module.css'

export function DeliveryMail({ mail: { subject, text, html } }: { mail: Mail }) {
  const [isSource, setSource] = useState(false)
  return (
    <Stack gap="xs">
      <Title order={3}>The mail</Title>
      <div className={classes.mail}>
        <Text fw={600} size="sm" mb="xs">
          {subject}
        </Text>
        {text}
      </div>
      <div>
        <Button size="compact-xs" variant="default" aria-expanded={isSource} onClick={() => setSource(!isSource)}>
          {isSource ? 'Hide the HTML version' : 'Show the HTML version as source'}
        </Button>
      </div>
      {isSource && <TextBlock label="HTML version" text={html} />}
    </Stack>
  )
}
