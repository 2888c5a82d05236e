/** Words that appear when a thing is pointed at or has the focus. They only repeat what its label says, or add to it. */

import type { ReactNode } from 'react'
import classes from './hint.module.css'

export function Hint({ text, children }: { text: string; children: ReactNode }) {
  return (
    <span className={classes.hint} data-hint={text}>
      {children}
    </span>
  )
}
