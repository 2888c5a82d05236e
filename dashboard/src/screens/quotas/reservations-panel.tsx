/** Places held before there is a run: until when, and giving one back. */

import type { Reservation, ReservationState } from '@holdfast/client'
import { Button, Group, NativeSelect, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { formatNumber } from '../../parts/format.ts'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { MoreButton } from '../../parts/more-button.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { type Look, ToneBadge } from '../../parts/tone-badge.tsx'
import { type More, useMore } from '../../parts/use-more.ts'
import { Way } from '../../parts/way.tsx'
import { useMay } from '../../session.tsx'
import { say } from '../../shell/notices.tsx'

const LOOKS: Record<ReservationState, Look> = {
  ACTIVE: { word: 'ACTIVE', shape: '◐', tone: 'running' },
  CONSUMED: { word: 'CONSUMED', shape: '✓', tone: 'good' },
  RELEASED: { word: 'RELEASED', shape: '↩', tone: 'quiet' },
  EXPIRED: { word: 'EXPIRED', shape: '⊘', tone: 'quiet' },
}

const STATES = [
  { value: 'ACTIVE', label: 'Active' },
  { value: 'CONSUMED', label: 'Consumed' },
  { value: 'RELEASED', label: 'Released' },
  { value: 'EXPIRED', label: 'Expired' },
  { value: 'all', label: 'All' },
]

type ReservationsPanelProps = {
  /** Null for those of everyone. */
  owner: string | null
  /** A state, or `all`. */
  state: string
  onState: (state: string) => void
}

export function ReservationsPanel({ owner, state, onState }: ReservationsPanelProps) {
  const [released, setReleased] = useState<Reservation | null>(null)
  const known = Object.keys(LOOKS).includes(state) ? (state as ReservationState) : null
  const filter = { ...(owner !== null && { owner }), ...(known && { state: known }) }
  const more = useMore(['reservations', filter], (signal) => client.reservations.list({ ...filter, signal }), {
    everyMs: 5_000,
  })
  return (
    <div>
      <Group justify="space-between" align="flex-end" mt="xl" mb="xs">
        <Title order={2}>Reservations{owner === null ? '' : ` of ${owner}`}</Title>
        <NativeSelect
          label="State"
          size="xs"
          value={known ?? 'all'}
          data={STATES}
          onChange={(event) => onState(event.currentTarget.value)}
        />
      </Group>
      <ReservationList more={more} isActive={known === 'ACTIVE'} onRelease={setReleased} />
      {released && <ReleaseDialog reservation={released} onClose={() => setReleased(null)} />}
    </div>
  )
}

type ReservationListProps = { more: More<Reservation>; isActive: boolean; onRelease: (one: Reservation) => void }

function ReservationList({ more, isActive, onRelease }: ReservationListProps) {
  const { items, error, refetch, isOld } = more
  if (items === undefined) {
    return error ? <ErrorNotice error={error} onRetry={refetch} /> : <Loading label="Reading reservations" />
  }
  if (items.length === 0 && !more.hasMore) {
    return (
      <EmptyState title={isActive ? 'No place is reserved now' : 'No such reservations'}>
        A reservation holds a place within a quota before there is a run, such as during an upload: programs make them
        with POST /reservations.
      </EmptyState>
    )
  }
  return (
    <>
      {error && <ErrorNotice error={error} onRetry={refetch} />}
      <TableBox
        label="Reservations"
        isOld={isOld}
        columns={['State', 'Owner', 'Model', { name: 'Cost', isNumber: true }, 'Made', 'Ends', 'Reservation']}
      >
        <tbody>
          {items.map((one) => (
            <Row key={one.reservation_id} reservation={one} onRelease={() => onRelease(one)} />
          ))}
        </tbody>
      </TableBox>
      <MoreButton more={more} what="reservations" />
    </>
  )
}

function Row({ reservation, onRelease }: { reservation: Reservation; onRelease: () => void }) {
  const { reservation_id: id, state, run_id: runId } = reservation
  const mayRelease = useMay('submitter') && state === 'ACTIVE'
  return (
    <tr>
      <td>
        <ToneBadge look={LOOKS[state]} />
      </td>
      <td>{reservation.owner}</td>
      <td>{reservation.model ?? 'Any'}</td>
      <td data-number>{reservation.cost === null ? '–' : formatNumber(reservation.cost)}</td>
      <td>
        <Moment at={reservation.created_at} />
      </td>
      <td>
        {state === 'ACTIVE' ? 'expires ' : ''}
        <Moment at={reservation.ended_at ?? reservation.expires_at} />
      </td>
      <td>
        <Group gap={6} wrap="nowrap">
          <code title={id}>…{id.slice(-8)}</code>
          <CopyButton text={id} label={`Copy the id ${id}`} />
          {runId && <Way to={`/runs/${runId}`}>Its run</Way>}
          {mayRelease && (
            <Button size="compact-xs" variant="default" onClick={onRelease} aria-label={`Release ${id}`}>
              Release
            </Button>
          )}
        </Group>
      </td>
    </tr>
  )
}

function ReleaseDialog({ reservation, onClose }: { reservation: Reservation; onClose: () => void }) {
  const queries = useQueryClient()
  const { reservation_id: id, owner } = reservation
  const release = async () => {
    const { state } = await client.reservations.release(id)
    await queries.invalidateQueries({ queryKey: ['reservations'] })
    await queries.invalidateQueries({ queryKey: ['quotas', 'usage'] })
    say(state === 'RELEASED' ? 'The place is free again.' : `It had ended already: ${state}.`)
  }
  return (
    <ConfirmDialog isOpen title="Release this reservation?" act="Release it" onAct={release} onClose={onClose}>
      The place that <strong>{owner}</strong> holds is given back at once. A program that submits with it afterwards is
      refused and has to reserve again.
    </ConfirmDialog>
  )
}
