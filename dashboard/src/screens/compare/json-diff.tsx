/** Two JSON values, place by place. */

import { Text } from '@mantine/core'
import { formatNumber } from '../../parts/format.ts'
import { Loading } from '../../parts/loading.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import classes from './compare.module.css'
import { type Difference, pathText } from './diff.ts'
import { ROWS_MAX, useDifferences } from './use-differences.ts'
import { changeWords, sizeWords, valueText } from './value-words.ts'

export function JsonDiff({ label, a, b, showsAll, whenNone }: JsonDiffProps) {
  const { rows, count, isDone } = useDifferences(a, b, showsAll)
  if (rows.length === 0) {
    if (!isDone) return <Loading label={`Comparing: ${label.toLowerCase()}`} />
    return (
      <Text size="sm" c="dimmed">
        {whenNone}
      </Text>
    )
  }
  return (
    <>
      <TableBox label={label} columns={['Place', 'A', 'B', 'Change']}>
        <tbody>
          {rows.map((row) => (
            <Row key={JSON.stringify(row.path)} {...row} />
          ))}
        </tbody>
      </TableBox>
      <Text size="xs" c="dimmed" mt={4} aria-live="polite">
        {countWords(count, showsAll)}
        {count > ROWS_MAX && `; the first ${ROWS_MAX} are shown`}
        {!isDone && '; still comparing…'}
      </Text>
    </>
  )
}

type JsonDiffProps = {
  label: string
  a: unknown
  b: unknown
  showsAll: boolean
  /** What is said when nothing differs. */
  whenNone: string
}

function countWords(count: number, showsAll: boolean): string {
  const what = showsAll ? 'place' : 'difference'
  return `${formatNumber(count)} ${what}${count === 1 ? '' : 's'}`
}

const WORDS = { added: 'only in B', removed: 'only in A', same: 'same', changed: 'changed' }
const SIGNS = { added: '+', removed: '−', same: '=', changed: '≠' }

function Row({ path, kind, a, b }: Difference) {
  return (
    <tr className={classes.row} data-same={kind === 'same' || undefined}>
      <th scope="row" className={classes.path}>
        {pathText(path)}
      </th>
      <td className={classes.json} data-side={kind === 'same' ? undefined : 'a'}>
        <Value value={a} />
      </td>
      <td className={classes.json} data-side={kind === 'same' ? undefined : 'b'}>
        <Value value={b} />
      </td>
      <td className={classes.change}>
        <span aria-hidden>{SIGNS[kind]}</span> {(kind === 'changed' && changeWords(a, b)) || WORDS[kind]}
      </td>
    </tr>
  )
}

function Value({ value }: { value: unknown }) {
  const size = sizeWords(value)
  return (
    <>
      {valueText(value)}
      {size && <span className={classes.size}> {size}</span>}
    </>
  )
}
