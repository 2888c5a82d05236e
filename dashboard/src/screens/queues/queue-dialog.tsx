/** One queue: everything that is known of it, the ways to its runs, and how it is shared among owners. */

import type { Queue } from '@holdfast/client'
import { Button, Group, Stack, Text } from '@mantine/core'
import { Dialog } from '../../parts/dialog.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { type Fact, Facts } from '../../parts/facts.tsx'
import { formatCount, formatDuration, formatNumber } from '../../parts/format.ts'
import { Moment } from '../../parts/moment.tsx'
import { ToneBadge } from '../../parts/tone-badge.tsx'
import { Way } from '../../parts/way.tsx'
import { useMay } from '../../session.tsx'
import { FairShareForm } from './fair-share-form.tsx'
import { lookOf } from './queue-words.ts'

type QueueDialogProps = { name: string; queue: Queue | undefined; onSwitch: () => void; onClose: () => void }

export function QueueDialog({ name, queue, onSwitch, onClose }: QueueDialogProps) {
  return (
    <Dialog isOpen title={`Queue ${name}`} size="lg" onClose={onClose}>
      {queue ? (
        <Inside queue={queue} onSwitch={onSwitch} />
      ) : (
        <EmptyState title="There is no such queue">A queue is there as soon as a worker serves it.</EmptyState>
      )}
    </Dialog>
  )
}

function Inside({ queue, onSwitch }: { queue: Queue; onSwitch: () => void }) {
  const isOperator = useMay('operator')
  const name = queue.queue
  return (
    <Stack gap="md">
      <Facts facts={factsOf(queue)} />
      <Group gap="md" fz="sm">
        {isOperator && (
          <Button size="xs" variant="default" onClick={onSwitch}>
            {queue.paused ? 'Resume…' : 'Pause…'}
          </Button>
        )}
        <Way to="/runs" search={{ queue: name }}>
          Its runs
        </Way>
        <Way to="/runs" search={{ queue: name, status: 'FAILED' }}>
          Its failures
        </Way>
        {isOperator && (
          <Way to="/" search={{ queue: name }}>
            Its statistics
          </Way>
        )}
      </Group>
      {isOperator ? <FairShareForm queue={queue} /> : <Shared queue={queue} />}
    </Stack>
  )
}

function factsOf(queue: Queue): Fact[] {
  const { pending, running, oldest_waiting_seconds: oldest, slots, limit, live_workers: workers } = queue
  return [
    { name: 'State', value: <ToneBadge look={lookOf(queue)} /> },
    { name: 'Waiting', value: formatCount(pending, queue.pending_capped) },
    { name: 'Oldest waiting', value: oldest === null ? '–' : formatDuration(Math.round(oldest)) },
    { name: 'Running', value: formatCount(running, queue.running_capped) },
    { name: 'Live workers', value: formatNumber(workers) },
    { name: 'Slots', value: formatNumber(slots) },
    { name: 'Limit', value: limit === null ? 'none' : formatNumber(limit) },
    { name: 'Last changed', value: <Moment at={queue.updated_at} /> },
  ]
}

function Shared({ queue: { fair_share: isFair, weights } }: { queue: Queue }) {
  if (!isFair) return <Text size="sm">Runs start by priority and age, whoever owns them.</Text>
  const told = Object.entries(weights).map(([owner, weight]) => `${owner} ${formatNumber(weight)}`)
  return (
    <Text size="sm">
      Shared fairly among the owners who wait{told.length > 0 ? `; weights: ${told.join(', ')}` : ''}.
    </Text>
  )
}
