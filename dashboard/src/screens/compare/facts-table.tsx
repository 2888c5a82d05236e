/** Facts of the two runs side by side. */

import { TableBox } from '../../parts/table-box.tsx'
import classes from './compare.module.css'
import type { FactRow } from './facts.ts'

export function FactsTable({ rows }: { rows: FactRow[] }) {
  return (
    <TableBox label="Facts" columns={['Fact', 'A', 'B', 'Change']}>
      <tbody>
        {rows.map(({ name, a, b, change, isSame }) => (
          <tr key={name} data-same={isSame || undefined} className={classes.row}>
            <th scope="row" className={classes.name}>
              {name}
            </th>
            <td className={classes.value}>{a}</td>
            <td className={classes.value}>{b}</td>
            <td className={classes.change}>{isSame ? 'same' : change}</td>
          </tr>
        ))}
      </tbody>
    </TableBox>
  )
}
