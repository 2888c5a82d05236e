/** The box around a table: it scrolls sideways where the screen is narrow, also with the keyboard. */

import type { ReactNode } from 'react'
import classes from './table.module.css'

export function TableBox({ label, isOld = false, children }: TableBoxProps) {
  return (
    <section
      className={classes.box}
      aria-label={label}
      aria-busy={isOld || undefined}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by those who have only keys
      tabIndex={0}
      style={{ opacity: isOld ? 0.55 : 1 }}
    >
      <table className={classes.table}>{children}</table>
    </section>
  )
}

type TableBoxProps = {
  label: string
  /** What is shown is about to be replaced. */
  isOld?: boolean
  /** Head and body. */
  children: ReactNode
}
