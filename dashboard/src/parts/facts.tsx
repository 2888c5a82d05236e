/** What is known of one thing: names and values, side by side where there is room. */

import type { ReactNode } from 'react'
import classes from './facts.module.css'

export type Fact = { name: string; value: ReactNode }

export function Facts({ facts }: { facts: Fact[] }) {
  return (
    <dl className={classes.facts}>
      {facts.map(({ name, value }) => (
        <div key={name} className={classes.fact}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
