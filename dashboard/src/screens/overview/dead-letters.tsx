/** Failed runs by model and kind of error. Each leads to exactly these runs, where all of them can be retried together. */

import { Button, Group, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { formatCount } from '../../parts/format.ts'
import { Moment } from '../../parts/moment.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { useAddress } from '../../parts/use-address.ts'
import { Way } from '../../parts/way.tsx'
import { type Search, textIn } from '../../search.ts'
import classes from './overview.module.css'
import { failureGroups } from './overview-queries.ts'

const SHOWN = 8

export function DeadLetters() {
  const { data: groups = [] } = useQuery(failureGroups)
  const { search, change } = useAddress()
  if (groups.length === 0) return null
  const isAll = textIn(search, 'letters') === 'all'
  const shown = isAll ? groups : groups.slice(0, SHOWN)
  return (
    <div>
      <Group justify="space-between" align="baseline" mb={6}>
        <Title order={2}>Dead letters</Title>
        <Text size="xs" c="dimmed">
          Runs that failed for good, the newest kind first
        </Text>
      </Group>
      <TableBox
        label="Dead letters"
        columns={[
          'Model',
          'Error',
          { name: 'Runs', isNumber: true },
          'Newest',
          'Example',
          { name: 'Acts', isHidden: true },
        ]}
      >
        <tbody>
          {shown.map(
            ({ model, error_class: error, count, count_capped: isCapped, newest_at: newest, example, filter }) => (
              <tr key={`${model} ${error}`}>
                <td>{model}</td>
                <td>{error}</td>
                <td data-number>{formatCount(count, isCapped)}</td>
                <td style={{ whiteSpace: 'nowrap' }}>
                  <Moment at={newest} />
                </td>
                <td>
                  <Way to={`/runs/${example.run_id}`} className={classes.message}>
                    {example.message}
                  </Way>
                </td>
                <td style={{ whiteSpace: 'nowrap' }}>
                  <Way to="/runs" search={filter as Search}>
                    See and retry
                  </Way>
                </td>
              </tr>
            ),
          )}
        </tbody>
      </TableBox>
      {groups.length > SHOWN && (
        <Button variant="subtle" size="xs" mt={4} onClick={() => change({ letters: isAll ? undefined : 'all' })}>
          {isAll ? 'Show fewer' : `Show all ${groups.length} kinds`}
        </Button>
      )}
    </div>
  )
}
