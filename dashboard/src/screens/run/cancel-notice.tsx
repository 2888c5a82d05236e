/** A run that was asked to stop: that it still may, or which of the two came first. */

import type { Run } from '@holdfast/client'
import { Text } from '@mantine/core'
import { formatDuration, secondsBetween } from '../../parts/format.ts'
import { Moment } from '../../parts/moment.tsx'
import { Notice } from './notice.tsx'

export function CancelNotice({ run }: { run: Run }) {
  const { status, cancel_requested_at: askedAt, finished_at: endedAt } = run
  if (askedAt === null) return null
  if (endedAt === null) {
    return (
      <Notice tone="waiting" title="Asked to stop">
        <Text size="sm">
          Asked <Moment at={askedAt} />. Its worker stops it; if the run finishes first, its result stands.
        </Text>
      </Notice>
    )
  }
  const after = formatDuration(Math.max(0, secondsBetween(askedAt, endedAt)))
  if (status === 'CANCELLED') return null
  return (
    <Notice tone="quiet" title={`It ended ${status} before it could be stopped`}>
      <Text size="sm">It was asked to stop and ended by itself {after} later, so what it did stands.</Text>
    </Notice>
  )
}
