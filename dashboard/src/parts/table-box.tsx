/** A table in its box, which scrolls sideways where the screen is narrow, also with the keyboard. */

import { VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './table.module.css'

/** A name alone, or with how it is shown. `isHidden`: only for those who do not see what is below. */
export type Column = string | { name: string; isNumber?: boolean; isHidden?: boolean }

export function TableBox({ label, columns, isOld = false, children }: TableBoxProps) {
  return (
    <section
      className={classes.box}
      aria-label={label}
      aria-busy={isOld || undefined}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by those who have only keys
      tabIndex={0}
      style={{ opacity: isOld ? 0.55 : 1 }}
    >
      <table className={classes.table}>
        <thead>
          <tr>{columns.filter((column) => column !== false).map(head)}</tr>
        </thead>
        {children}
      </table>
    </section>
  )
}

function head(column: Column) {
  const { name, isNumber = false, isHidden = false } = typeof column === 'string' ? { name: column } : column
  return (
    <th key={name} scope="col" data-number={isNumber || undefined}>
      {isHidden ? <VisuallyHidden>{name}</VisuallyHidden> : name}
    </th>
  )
}

type TableBoxProps = {
  label: string
  /** `false` for one that is left out. */
  columns: readonly (Column | false)[]
  /** What is shown is about to be replaced. */
  isOld?: boolean
  /** The body. */
  children: ReactNode
}
