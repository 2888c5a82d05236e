/** What a model takes, one row per parameter. */

import { Text } from '@mantine/core'
import { TableBox } from '../../parts/table-box.tsx'
import classes from './models.module.css'
import { schemaRows } from './schema-rows.ts'

export function ParametersTable({ schema }: { schema: Record<string, unknown> }) {
  const rows = schemaRows(schema)
  if (rows.length === 0) return <Text size="sm">It names none; the schema below says what it accepts.</Text>
  return (
    <TableBox label="Parameters" columns={['Parameter', 'Type', 'Default', 'Rules', 'About']}>
      <tbody>
        {rows.map(({ path, type, isRequired, fallback, rules, description }) => (
          <tr key={path}>
            <td>
              <code className={classes.code}>{path}</code>
              {isRequired && <span className={classes.required}> required</span>}
            </td>
            <td>{type}</td>
            <td>{fallback === null ? '–' : <code className={classes.code}>{fallback}</code>}</td>
            <td>{rules.length > 0 ? rules.join(', ') : '–'}</td>
            <td>{description ?? '–'}</td>
          </tr>
        ))}
      </tbody>
    </TableBox>
  )
}
