/** A box above the facts that says what matters most about the run just now. */

import type { ReactNode } from 'react'
import classes from './notice.module.css'

export function Notice({ tone, title, label, children }: NoticeProps) {
  return (
    <section className={classes.notice} data-tone={tone} aria-label={label ?? title}>
      <h2 className={classes.title}>{title}</h2>
      {children}
    </section>
  )
}

type NoticeProps = {
  tone: 'waiting' | 'bad' | 'quiet'
  title: string
  /** The name of the box, when not its title. */
  label?: string
  children: ReactNode
}
