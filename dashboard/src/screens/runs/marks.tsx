/** Two runs that are marked can be compared. */

import { Button } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { CompareIcon } from '../../parts/icons.tsx'
import { say } from '../../shell/notices.tsx'
import { useShortcut } from '../../shell/shortcuts.tsx'
import classes from './run-table.module.css'

export type Marks = { ids: readonly string[]; toggle: (runId: string) => void; clear: () => void }

export function useMarks(): Marks {
  const [ids, setIds] = useState<readonly string[]>([])
  const navigate = useNavigate()
  const toggle = useCallback((runId: string) => {
    // A third takes the place of the one before it.
    setIds((marked) => (marked.includes(runId) ? marked.filter((id) => id !== runId) : [...marked, runId].slice(-2)))
  }, [])
  useShortcut('c', 'Compare the two marked runs', () => {
    const [a, b] = ids
    if (a && b) void navigate({ to: '/compare', search: { a, b } })
    else say('Mark two runs with x first; c then compares them.')
  })
  return { ids, toggle, clear: () => setIds([]) }
}

export function MarkedBar({ marks: { ids, clear } }: { marks: Marks }) {
  const [a, b] = ids
  return (
    <div className={classes.marked} role="status">
      {a && (
        <div className={classes.markedBox}>
          <span>{b ? '2 runs marked' : '1 run marked; mark another to compare'}</span>
          {b && (
            <Link to="/compare" search={{ a, b }} className={classes.compare}>
              <CompareIcon size={14} /> Compare
            </Link>
          )}
          <Button size="compact-xs" variant="subtle" color="gray" onClick={clear}>
            Clear
          </Button>
        </div>
      )}
    </div>
  )
}
