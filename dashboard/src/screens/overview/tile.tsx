/** One number of the overview, with its name above and a few words below; the whole of it leads to what it counts. */

import { Skeleton } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Search } from '../../search.ts'
import classes from './tile.module.css'

export function Tiles({ label, isSmall = false, children }: { label: string; isSmall?: boolean; children: ReactNode }) {
  return (
    <section className={classes.tiles} data-small={isSmall || undefined} aria-label={label}>
      {children}
    </section>
  )
}

export function Tile({ name, value, note, link, tone }: TileProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: it is no group of fields
    <div className={classes.tile} role="group" aria-label={name} data-tone={tone}>
      <div className={classes.name}>{name}</div>
      <div className={classes.value}>
        {value === undefined && <Skeleton height={20} width={56} my={4} />}
        {value !== undefined && !link && value}
        {value !== undefined && link && (
          <Link to={link.to} search={link.search} className={classes.link}>
            {value}
          </Link>
        )}
      </div>
      {note && <div className={classes.note}>{note}</div>}
    </div>
  )
}

type TileProps = {
  name: string
  /** Undefined until it is known. */
  value: ReactNode | undefined
  note?: ReactNode
  link?: { to: string; search: Search } | undefined
  tone?: 'bad' | undefined
}
