/** Leads to the runs that have something in common with this one, to single runs, and to workers. */

import type { ReactNode } from 'react'
import { Way } from '../../parts/way.tsx'
import type { Search } from '../../search.ts'

export function FilterLink({ filter, children }: { filter: Search; children: ReactNode }) {
  return (
    <Way to="/runs" search={filter}>
      {children}
    </Way>
  )
}

export function RunLink({ runId }: { runId: string }) {
  return (
    <Way to={`/runs/${encodeURIComponent(runId)}`}>
      <code>
        {runId.slice(0, 8)}…{runId.slice(-6)}
      </code>
    </Way>
  )
}

export function WorkerLink({ workerId }: { workerId: string }) {
  return (
    <Way to="/workers" search={{ worker: workerId }}>
      {workerId}
    </Way>
  )
}

/** The same run at another tab. */
export function TabLink({ search, children }: { search: Search; children: ReactNode }) {
  return (
    <Way to="." search={search}>
      {children}
    </Way>
  )
}
