/** A link to a screen, with what it is to show. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Search } from '../search.ts'
import classes from './way.module.css'

export function Way({ to, search = {}, isInText = false, className, children }: WayProps) {
  return (
    <Link
      to={to}
      search={search}
      // Another view of the same screen is not where one is.
      activeOptions={{ exact: true }}
      data-text={isInText || undefined}
      className={className ? `${classes.way} ${className}` : classes.way}
    >
      {children}
    </Link>
  )
}

type WayProps = {
  to: string
  /** All of it: nothing of the present address is kept. */
  search?: Search
  /** Among words, where its colour alone would not show it. */
  isInText?: boolean
  className?: string | undefined
  children: ReactNode
}
