/** A part of the comparison under its own heading. Its table is a landmark by the same name. */

import { Title } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './compare.module.css'

export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={classes.section}>
      <Title order={2} mb={6}>
        {title}
      </Title>
      {children}
    </div>
  )
}
