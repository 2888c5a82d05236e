/** What there is now: waiting, running, the oldest that waits and why, and who works. */

import type { Stats, Worker } from '@holdfast/client'
import { useQuery } from '@tanstack/react-query'
import { workersIn } from '../../parts/directory-queries.ts'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { formatCount, formatDuration, formatNumber } from '../../parts/format.ts'
import { UsageBar } from '../../parts/usage-bar.tsx'
import { Way } from '../../parts/way.tsx'
import { REFRESH_MS, runOf, statsOf } from './overview-queries.ts'
import type { Range, StatsFilter } from './stats-range.ts'
import { Tile, Tiles } from './tile.tsx'

export function OperatorNumbers({ range, filter }: { range: Range; filter: StatsFilter }) {
  const { data: stats, error, refetch } = useQuery(statsOf(range, filter))
  // Told here for all that is made of it.
  if (!stats && error) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  const now = stats?.now
  const shownBy = (status: string) => ({ to: '/runs', search: { status, ...filter } })
  return (
    <Tiles label="Now">
      <Tile
        name="Waiting"
        value={now && formatCount(now.pending, now.pending_capped)}
        note="PENDING"
        link={shownBy('PENDING')}
      />
      <Tile
        name="Running"
        value={now && formatCount(now.running, now.running_capped)}
        note="RUNNING"
        link={shownBy('RUNNING')}
      />
      <OldestTile now={now} />
      <WorkersTile />
    </Tiles>
  )
}

function OldestTile({ now }: { now: Stats['now'] | undefined }) {
  const oldest = now?.oldest_waiting
  const { data: run } = useQuery(runOf(oldest?.run_id))
  if (!oldest) return <Tile name="Oldest waiting" value={now && '–'} note={now && 'Nothing waits to be started.'} />
  return (
    <Tile
      name="Oldest waiting"
      value={formatDuration(Math.round(oldest.seconds))}
      note={run?.waiting?.detail ?? 'The run that could have started first.'}
      link={{ to: `/runs/${oldest.run_id}`, search: {} }}
    />
  )
}

function WorkersTile() {
  const { data: live } = useQuery({ ...workersIn('live'), refetchInterval: REFRESH_MS })
  const { data: silent } = useQuery({ ...workersIn('silent'), refetchInterval: REFRESH_MS })
  const slots = sumOf(live ?? [], ({ concurrency }) => concurrency)
  const inUse = sumOf(live ?? [], ({ running }) => running)
  return (
    <Tile
      name="Workers alive"
      value={live && formatNumber(live.length)}
      link={{ to: '/workers', search: { state: 'live' } }}
      tone={live?.length === 0 ? 'bad' : undefined}
      note={
        live && (
          <>
            {live.length === 0 ? 'Nothing can start.' : <UsageBar used={inUse} of={slots} label="Slots in use" />}
            {silent && silent.length > 0 && (
              <div>
                <Way to="/workers" search={{ state: 'silent' }}>
                  {silent.length} silent
                </Way>
              </div>
            )}
          </>
        )
      }
    />
  )
}

function sumOf(workers: Worker[], of: (worker: Worker) => number): number {
  return workers.reduce((sum, worker) => sum + of(worker), 0)
}
