/** One row per queue. */

import type { Queue } from '@holdfast/client'
import { Button } from '@mantine/core'
import { formatCount, formatDuration, formatNumber } from '../../parts/format.ts'
import { TableBox } from '../../parts/table-box.tsx'
import { ToneBadge } from '../../parts/tone-badge.tsx'
import { UsageBar } from '../../parts/usage-bar.tsx'
import { Way } from '../../parts/way.tsx'
import { useMay } from '../../session.tsx'
import { lookOf } from './queue-words.ts'

type QueuesTableProps = { queues: Queue[]; onSwitch: (queue: string) => void }

export function QueuesTable({ queues, onSwitch }: QueuesTableProps) {
  const mayPause = useMay('operator')
  return (
    <TableBox
      label="Queues"
      columns={[
        'Queue',
        'State',
        { name: 'Waiting', isNumber: true },
        { name: 'Oldest waiting', isNumber: true },
        { name: 'Running', isNumber: true },
        'Slots in use',
        { name: 'Limit', isNumber: true },
        { name: 'Live workers', isNumber: true },
        'Sharing',
        mayPause && { name: 'Acts', isHidden: true },
      ]}
    >
      <tbody>
        {queues.map((queue) => (
          <Row key={queue.queue} queue={queue} onSwitch={mayPause ? onSwitch : null} />
        ))}
      </tbody>
    </TableBox>
  )
}

function Row({ queue: one, onSwitch }: { queue: Queue; onSwitch: ((queue: string) => void) | null }) {
  const { queue, pending, running, oldest_waiting_seconds: oldest, slots, limit, live_workers: workers } = one
  return (
    <tr>
      <td style={{ fontWeight: 600 }}>
        <Way to="/queues" search={{ queue }}>
          {queue}
        </Way>
      </td>
      <td>
        <ToneBadge look={lookOf(one)} />
      </td>
      <td data-number>
        <Way to="/runs" search={{ queue, status: 'PENDING' }}>
          {formatCount(pending, one.pending_capped)}
        </Way>
      </td>
      <td data-number>{oldest === null ? '–' : formatDuration(Math.round(oldest))}</td>
      <td data-number>
        <Way to="/runs" search={{ queue, status: 'RUNNING' }}>
          {formatCount(running, one.running_capped)}
        </Way>
      </td>
      <td>
        {slots > 0 ? <UsageBar used={running} of={slots} isCapped={one.running_capped} label="Slots in use" /> : '–'}
      </td>
      <td data-number>{limit === null ? '–' : formatNumber(limit)}</td>
      <td data-number>{formatNumber(workers)}</td>
      <td>{one.fair_share ? 'fair among owners' : '–'}</td>
      {onSwitch && (
        <td>
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`${one.paused ? 'Resume' : 'Pause'} queue ${queue}`}
            onClick={() => onSwitch(queue)}
          >
            {one.paused ? 'Resume' : 'Pause'}
          </Button>
        </td>
      )}
    </tr>
  )
}
