/** Names that lead somewhere: the first few, and the others when asked for. */

import { useState } from 'react'
import type { Search } from '../search.ts'
import classes from './name-list.module.css'
import { Way } from './way.tsx'

export type Named = { name: string; to: string; search: Search; note?: string | null }

const SHOWN = 3

export function NameList({ names, label }: { names: Named[]; label: string }) {
  const [isAll, setAll] = useState(false)
  if (names.length === 0) return <span>–</span>
  const shown = isAll || names.length <= SHOWN + 1 ? names : names.slice(0, SHOWN)
  const more = names.length - shown.length
  return (
    <span className={classes.names}>
      {shown.map(({ name, to, search, note }) => (
        <span key={name}>
          <Way to={to} search={search}>
            {name}
          </Way>
          {note && <span className={classes.note}> {note}</span>}
        </span>
      ))}
      {more > 0 && (
        <button
          type="button"
          className={classes.more}
          aria-label={`${more} more ${label}`}
          onClick={() => setAll(true)}
        >
          and {more} more
        </button>
      )}
    </span>
  )
}
