/** The audit: who did what to the service itself, newest first. For administrators. */

import type { AuditEvent } from '@holdfast/client'
import { Group, NativeSelect, Text } from '@mantine/core'
import { client } from '../../client.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { JsonBlock } from '../../parts/json-block.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { MoreButton } from '../../parts/more-button.tsx'
import { OwnerField } from '../../parts/owner-field.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { useAddress } from '../../parts/use-address.ts'
import { useMore } from '../../parts/use-more.ts'
import { Way } from '../../parts/way.tsx'
import { textIn } from '../../search.ts'
import { useMay } from '../../session.tsx'
import { ACTIONS, type AuditFilter, actionWords, fits, targetLink } from './audit-words.ts'

const CHOICES = [{ value: '', label: 'Any' }, ...ACTIONS.map((value) => ({ value, label: actionWords(value) }))]

export default function AuditScreen() {
  const mayRead = useMay('admin')
  return (
    <>
      <PageTitle title="Audit" note="Who did what to the service itself; nothing in it ever changes" />
      {mayRead ? <Audit /> : <EmptyState title="The audit is for administrators" />}
    </>
  )
}

function Audit() {
  const { search, change } = useAddress()
  const filter: AuditFilter = { action: textIn(search, 'action') ?? '', actor: textIn(search, 'actor') ?? '' }
  const more = useMore<AuditEvent>(['audit', filter], (signal) => events(signal, filter), { everyMs: 10_000 })
  const isFiltered = filter.action !== '' || filter.actor !== ''
  return (
    <>
      <Group gap="sm" align="flex-end" mb="md">
        <NativeSelect
          label="What"
          size="xs"
          value={filter.action}
          data={CHOICES}
          onChange={(event) => change({ action: event.currentTarget.value })}
        />
        <OwnerField
          label="Who"
          value={filter.actor}
          placeholder="Anyone"
          known={[]}
          onChange={(actor) => change({ actor })}
        />
      </Group>
      {more.error && <ErrorNotice error={more.error} onRetry={more.refetch} />}
      {more.items === undefined && !more.error && <Loading label="Reading the audit" />}
      {more.items?.length === 0 && !more.isCut && (
        <EmptyState title={isFiltered ? 'Nothing fits' : 'Nothing is recorded yet'}>
          {isFiltered
            ? 'Choose another act or another name.'
            : 'Acts on the service itself appear here, such as making a token, setting a quota or pausing a queue.'}
        </EmptyState>
      )}
      {more.items && more.items.length > 0 && <AuditTable events={more.items} isOld={more.isOld} />}
      <MoreButton more={more} what="acts" />
    </>
  )
}

async function* events(signal: AbortSignal, filter: AuditFilter): AsyncGenerator<AuditEvent, void, void> {
  for await (const event of client.audit({ signal })) if (fits(filter, event)) yield event
}

function AuditTable({ events, isOld }: { events: readonly AuditEvent[]; isOld: boolean }) {
  return (
    <TableBox label="Audit" isOld={isOld} columns={['When', 'Who', 'What', 'To what', 'Details']}>
      <tbody>
        {events.map((event) => (
          <AuditRow key={event.audit_id} event={event} />
        ))}
      </tbody>
    </TableBox>
  )
}

function AuditRow({ event }: { event: AuditEvent }) {
  const { actor_token_id: token, data, request_id: request } = event
  return (
    <tr>
      <td>
        <Moment at={event.at} />
      </td>
      <td style={{ overflowWrap: 'anywhere' }}>
        {event.actor_owner}
        <Text size="xs" c="dimmed">
          {token === null ? (
            'without a token'
          ) : (
            <Way to="/tokens" search={{ token }}>
              with this token
            </Way>
          )}
        </Text>
      </td>
      <td>{actionWords(event.action)}</td>
      <td style={{ overflowWrap: 'anywhere', minWidth: 160 }}>
        <Target event={event} />
      </td>
      <td style={{ minWidth: 220 }}>
        {Object.keys(data).length > 0 && (
          <details>
            <summary style={{ cursor: 'pointer' }}>Show</summary>
            <JsonBlock label="Details" value={data} />
          </details>
        )}
        {request !== null && (
          <Text size="xs" c="dimmed">
            request {request}
          </Text>
        )}
      </td>
    </tr>
  )
}

function Target({ event }: { event: AuditEvent }) {
  const link = targetLink(event)
  if (link === null) return <>{event.target ?? '–'}</>
  return (
    <Way to={link.to} search={link.search}>
      {event.target}
    </Way>
  )
}
