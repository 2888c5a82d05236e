/** The keyboard in the list: j, k and the arrows move, x marks, Enter opens as it does for any link. */

import type { Virtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, useEffect, useRef } from 'react'
import { useShortcut } from '../../shell/shortcuts.tsx'
import type { Marks } from './marks.tsx'
import type { RunRow } from './run-row.ts'

type RowKeys = {
  rows: readonly RunRow[]
  activeIndex: number
  activate: (runId: string | null) => void
  virtualizer: Virtualizer<Window, Element>
  marks: Marks
}

export function useRowKeys({ rows, activeIndex, activate, virtualizer, marks }: RowKeys) {
  const wanted = useRef<string | null>(null)
  // The row is there only once it was rendered.
  useEffect(() => {
    if (wanted.current === null) return
    const row = document.querySelector<HTMLElement>(`[data-run="${CSS.escape(wanted.current)}"]`)
    if (!row) return
    wanted.current = null
    row.focus({ preventScroll: true })
  })
  const moveTo = (index: number) => {
    const row = rows[Math.min(Math.max(index, 0), rows.length - 1)]
    if (!row) return
    wanted.current = row.runId
    virtualizer.scrollToIndex(rows.indexOf(row), { align: 'auto' })
    activate(row.runId)
  }
  // Without a row that was chosen before, the first in view is next.
  const first = virtualizer.range?.startIndex ?? 0
  const move = (by: number) => moveTo(activeIndex < 0 ? first : activeIndex + by)
  useShortcut('j', 'Next run', () => move(1))
  useShortcut('k', 'Run before', () => move(-1))
  useShortcut('x', 'Mark the run', () => {
    const row = rows[activeIndex]
    if (row) marks.toggle(row.runId)
  })

  return (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key]
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    move(by)
  }
}
