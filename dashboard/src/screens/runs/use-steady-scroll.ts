/** Keeps the run at the upper edge where it is when rows above it come or go. At the top of the list new rows push the others down. */

import { useLayoutEffect, useRef } from 'react'
import { indexAfter } from './run-pages.ts'
import type { RunRow } from './run-row.ts'

export function useSteadyScroll(rows: readonly RunRow[], rowPx: number, marginPx: number): void {
  const before = useRef(rows)
  useLayoutEffect(() => {
    const known = before.current
    before.current = rows
    const scrolledPx = window.scrollY - marginPx
    if (known === rows || scrolledPx < rowPx || known.length === 0) return
    const index = Math.floor(scrolledPx / rowPx)
    const movedPx = (indexAfter(known, index, rows) - index) * rowPx
    if (movedPx !== 0 && index < known.length) window.scrollBy({ top: movedPx, behavior: 'instant' })
  }, [rows, rowPx, marginPx])
}
