/** When files cannot be sent: what is the matter, that nothing is lost, and what to do. */

import { Alert, Button, Group, Text } from '@mantine/core'
import { formatNumber } from '../../parts/format.ts'
import { useNowMs } from '../../parts/now.ts'
import { type Phase, type Sender, type Sending, TRIES_MAX } from './sender.ts'
import { isSettled } from './upload-row.ts'

export function SendingNotice({ sender, sending: { phase, rows } }: { sender: Sender; sending: Sending }) {
  const left = rows.filter((row) => !isSettled(row)).length
  const files = left === 1 ? 'One file is' : `${formatNumber(left)} files are`
  if (phase.is === 'away') return <Away phase={phase} files={files} onNow={() => sender.start()} />
  if (phase.is !== 'stopped') return null
  const what = phase.advice?.what ?? 'The upload failed: the service could not be reached.'
  const todo =
    phase.advice?.todo ??
    'Check that you are connected, and try again. If it still fails, tell those who run this service.'
  return (
    <Alert color="red" variant="light" role="alert" title={what}>
      <Text size="sm">
        {files} not sent yet, and nothing is lost: keep this page open. {todo}
      </Text>
      <Group mt="xs">
        <Button size="xs" onClick={() => sender.start()}>
          Try again
        </Button>
      </Group>
    </Alert>
  )
}

type AwayProps = { phase: Extract<Phase, { is: 'away' }>; files: string; onNow: () => void }

function Away({ phase: { tries, nextMs }, files, onNow }: AwayProps) {
  const seconds = Math.max(0, Math.ceil((nextMs - useNowMs()) / 1_000))
  return (
    <Alert color="yellow" variant="light" role="status" title="The service cannot be reached">
      <Text size="sm">
        Your files are still here: {files.toLowerCase()} waiting on this page. It is tried again by itself
        <span aria-hidden>
          {seconds > 0 ? ` in ${seconds} s` : ' now'} (try {tries + 1} of {TRIES_MAX})
        </span>
        . Keep this page open.
      </Text>
      <Group mt="xs">
        <Button size="xs" variant="default" onClick={onNow}>
          Try now
        </Button>
      </Group>
    </Alert>
  )
}
