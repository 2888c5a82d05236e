/** The parts of the screen that have an address of their own: `?tab=logs&attempt=2`. */

import type { Run, Step } from '@holdfast/client'
import { Tabs } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { Loading } from '../../parts/loading.tsx'
import { type Search, textIn } from '../../search.ts'
import { useShortcut } from '../../shell/shortcuts.tsx'
import { EventsPanel } from './events-panel.tsx'
import { FilesPanel } from './files-panel.tsx'
import { TimelinePanel } from './timeline-panel.tsx'

const LogPanel = lazy(() => import('./log-panel.tsx'))
const ParametersPanel = lazy(() => import('./parameters-panel.tsx'))
const ResultPanel = lazy(() => import('./result-panel.tsx'))

const TABS = [
  ['timeline', 'Timeline'],
  ['events', 'Events'],
  ['logs', 'Logs'],
  ['parameters', 'Parameters'],
  ['result', 'Result'],
  ['files', 'Files'],
] as const

export type RunTab = (typeof TABS)[number][0]

export function RunTabs({ run, steps }: { run: Run; steps: Step[] }) {
  const search: Search = useSearch({ strict: false })
  const navigate = useNavigate()
  const asked = textIn(search, 'tab')
  const tab = TABS.find(([name]) => name === asked)?.[0] ?? 'timeline'
  const attempt = Number(textIn(search, 'attempt')) || null
  const go = (next: Search) => void navigate({ to: '.', search: next, replace: true, resetScroll: false })
  const open = (name: string | null) => go({ ...search, tab: name ?? 'timeline' })
  const choose = (number: number | null) => go({ ...search, attempt: number === null ? undefined : String(number) })
  return (
    <Tabs value={tab} onChange={open} keepMounted={false}>
      <Tabs.List aria-label="About this run in detail" style={{ flexWrap: 'nowrap', overflowX: 'auto' }}>
        {TABS.map(([name, label], index) => (
          <Tabs.Tab key={name} value={name} style={{ flex: 'none' }}>
            {label}
            <TabShortcut keys={String(index + 1)} label={label} act={() => open(name)} />
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={tab} pt="md">
        <Suspense fallback={<Loading label="Loading" />}>
          <Panel tab={tab} run={run} steps={steps} attempt={attempt} onAttempt={choose} />
        </Suspense>
      </Tabs.Panel>
    </Tabs>
  )
}

function TabShortcut({ keys, label, act }: { keys: string; label: string; act: () => void }) {
  useShortcut(keys, `Show ${label.toLowerCase()}`, act)
  return null
}

type PanelProps = {
  tab: RunTab
  run: Run
  steps: Step[]
  attempt: number | null
  onAttempt: (attempt: number | null) => void
}

function Panel({ tab, run, steps, attempt, onAttempt }: PanelProps) {
  if (tab === 'events') return <EventsPanel run={run} />
  if (tab === 'logs') return <LogPanel run={run} attempt={attempt} onAttempt={onAttempt} />
  if (tab === 'parameters') return <ParametersPanel run={run} />
  if (tab === 'result') return <ResultPanel run={run} />
  if (tab === 'files') return <FilesPanel run={run} />
  return <TimelinePanel run={run} steps={steps} attempt={attempt} onAttempt={onAttempt} />
}
