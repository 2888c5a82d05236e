/** Deliveries, newest first: what was told to whom and how it went. */

import type { Delivery } from '@holdfast/client'
import { Text } from '@mantine/core'
import { kindWords } from '../../parts/kind-words.ts'
import { Moment } from '../../parts/moment.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { ToneBadge } from '../../parts/tone-badge.tsx'
import { Way } from '../../parts/way.tsx'
import type { Search } from '../../search.ts'
import classes from './deliveries.module.css'
import { CHANNEL_WORDS, STATE_LOOKS } from './delivery-words.ts'

type DeliveriesTableProps = {
  deliveries: readonly Delivery[]
  names: ReadonlyMap<string, string>
  search: Search
  isOld: boolean
}

export function DeliveriesTable({ deliveries, names, search, isOld }: DeliveriesTableProps) {
  return (
    <TableBox
      label="Deliveries"
      isOld={isOld}
      columns={['State', 'What it tells', 'To', 'Owner', { name: 'Tries', isNumber: true }, 'Made', 'How it went']}
    >
      <tbody>
        {deliveries.map((one) => (
          <tr key={one.delivery_id} data-dead={one.state === 'DEAD' || undefined} className={classes.row}>
            <td>
              <ToneBadge look={STATE_LOOKS[one.state]} />
            </td>
            <td>
              <Way to="/deliveries" search={{ ...search, delivery: one.delivery_id }} className={classes.open}>
                {kindWords(one.kind)}
              </Way>
            </td>
            <td className={classes.receiver}>
              <Text size="xs" c="dimmed">
                {CHANNEL_WORDS[one.channel]}
              </Text>
              {names.get(one.receiver_id) ?? `…${one.receiver_id.slice(-8)}`}
            </td>
            <td>{one.owner === '*' ? 'Everyone' : one.owner}</td>
            <td data-number>{one.attempt_count}</td>
            <td>
              <Moment at={one.created_at} />
            </td>
            <td className={classes.outcome}>
              <Outcome delivery={one} />
            </td>
          </tr>
        ))}
      </tbody>
    </TableBox>
  )
}

export function Outcome({ delivery }: { delivery: Delivery }) {
  const { state, next_attempt_at: nextAt, finished_at: finishedAt, last_error: error, attempt_count: tries } = delivery
  return (
    <>
      {state === 'PENDING' && (
        <div>
          {tries === 0 ? 'To be sent ' : 'Next try '}
          <Moment at={nextAt} />
        </div>
      )}
      {state === 'DELIVERED' && (
        <div>
          Arrived <Moment at={finishedAt} />
        </div>
      )}
      {error !== null && <div className={classes.error}>{error}</div>}
    </>
  )
}
