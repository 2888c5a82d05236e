/** How far a batch is: what is sent, with pace and time left, and what has come to its end. */

import { Button, Group, Progress, Text } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { formatBytes, formatDuration, formatNumber } from '../../parts/format.ts'
import classes from './documents.module.css'
import type { Sender, Sending } from './sender.ts'
import { giveUp } from './sendings.ts'
import type { Counts } from './shown-files.ts'
import { bytesPerSecond, secondsLeft } from './transfer-rate.ts'
import { isSettled } from './upload-row.ts'

/** What a file costs beside its bytes: a thousand small ones take longer than a large one. */
const FILE_BYTES = 64 * 1024

type PartProps = { sender: Sender | null; sending: Sending | null; counts: Counts; ended: number }

export function BatchProgressPart({ sender, sending, counts, ended }: PartProps) {
  const isSending = sender !== null && sending !== null && sending.phase.is !== 'finished'
  const share = counts.all === 0 ? 0 : (100 * ended) / counts.all
  return (
    <div className={classes.progress}>
      {isSending && <SendingPart sender={sender} sending={sending} />}
      <div>
        <Group justify="space-between" gap="xs" mb={4}>
          <Text size="sm" fw={600}>
            {ended === counts.all ? 'Finished' : 'Being processed'}
          </Text>
          <Text size="sm" c="dimmed">
            {formatNumber(ended)} of {formatNumber(counts.all)} {counts.all === 1 ? 'file' : 'files'}
          </Text>
        </Group>
        <Progress value={share} size="md" aria-label="Files that are finished" />
      </div>
    </div>
  )
}

function SendingPart({ sender, sending }: { sender: Sender; sending: Sending }) {
  const [isAsking, setAsking] = useState(false)
  const { phase, rows, bytes, bytesTotal, batchId } = sending
  const settled = rows.filter(isSettled).length
  const count = rows.length - settled
  const left = `${formatNumber(count)} ${count === 1 ? 'file' : 'files'}`
  const isPaused = phase.is === 'paused'
  return (
    <div>
      <Group justify="space-between" gap="xs" mb={4}>
        <Text size="sm" fw={600}>
          {isPaused ? 'Paused' : phase.is === 'sending' ? 'Sending: keep this page open' : 'Not all is sent'}
        </Text>
        <Text size="sm" c="dimmed">
          {formatNumber(settled)} of {formatNumber(rows.length)} {rows.length === 1 ? 'file' : 'files'}
        </Text>
      </Group>
      <Progress
        value={(100 * (bytes + FILE_BYTES * settled)) / (bytesTotal + FILE_BYTES * rows.length)}
        size="md"
        color="blue"
        aria-label="Files that are sent"
      />
      <Group gap="xs" mt={6}>
        <Text size="xs" c="dimmed" mr="auto">
          {sizes(sending)}
        </Text>
        {phase.is === 'sending' && (
          <Button size="xs" variant="default" onClick={() => sender.pause()}>
            Pause
          </Button>
        )}
        {isPaused && (
          <Button size="xs" onClick={() => sender.start()}>
            Go on
          </Button>
        )}
        <Button size="xs" variant="subtle" color="gray" onClick={() => setAsking(true)}>
          Stop
        </Button>
      </Group>
      <ConfirmDialog
        isOpen={isAsking}
        title="Stop sending?"
        act={`Leave out ${left}`}
        onClose={() => setAsking(false)}
        onAct={async () => giveUp(batchId)}
      >
        What has not been sent ({left}) is left out. What was sent stays and is processed.
      </ConfirmDialog>
    </div>
  )
}

/** `12 MiB of 40 MiB · 3.2 MiB/s · about 20 s left`. */
function sizes({ bytes, bytesTotal, samples }: Sending): string {
  const rate = bytesPerSecond(samples)
  const left = secondsLeft(samples, bytesTotal - bytes)
  const pace = rate === null ? '' : ` · ${formatBytes(Math.round(rate))}/s`
  const time = left === null || left < 2 ? '' : ` · about ${formatDuration(Math.round(left))} left`
  return `${formatBytes(bytes)} of ${formatBytes(bytesTotal)}${pace}${time}`
}
