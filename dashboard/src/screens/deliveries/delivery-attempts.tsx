/** Each time a delivery was sent: what was sent, what was answered, how long it took. The last one is open. */

import type { DeliveryAttempt } from '@holdfast/client'
import { Stack, Text } from '@mantine/core'
import { formatDuration } from '../../parts/format.ts'
import { JsonBlock } from '../../parts/json-block.tsx'
import { Moment } from '../../parts/moment.tsx'
import classes from './deliveries.module.css'
import { readable } from './delivery-words.ts'

export function DeliveryAttempts({ attempts }: { attempts: readonly DeliveryAttempt[] }) {
  if (attempts.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        It was not tried yet.
      </Text>
    )
  }
  return (
    <ol className={classes.attempts}>
      {attempts.map((attempt, index) => (
        <li key={attempt.attempt}>
          <Attempt attempt={attempt} isLast={index === attempts.length - 1} />
        </li>
      ))}
    </ol>
  )
}

function Attempt({ attempt, isLast }: { attempt: DeliveryAttempt; isLast: boolean }) {
  const { duration_ms: durationMs, error, request, response } = attempt
  const isUnknown = durationMs === null
  return (
    <details open={isLast}>
      <summary>
        <strong>Try {attempt.attempt}</strong>
        <Moment at={attempt.started_at} />
        <span>{isUnknown ? 'nobody said how it went' : formatDuration(durationMs / 1_000)}</span>
        {!isUnknown && error === null && <span>✓ taken</span>}
        {error !== null && <span className={classes.error}>✕ {error}</span>}
      </summary>
      <Stack gap="xs" mt="xs">
        {isUnknown && (
          <Text size="sm" c="dimmed">
            The relay that sent it ended before it could say how it went. The receiver may have got it.
          </Text>
        )}
        {request !== null && <JsonBlock label={`Request of try ${attempt.attempt}`} value={readable(request)} />}
        {response !== null && <JsonBlock label={`Response of try ${attempt.attempt}`} value={readable(response)} />}
      </Stack>
    </details>
  )
}
