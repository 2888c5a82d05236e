/**
 * Which rows of a long list are in sight, when all have the same height. What it costs does not depend on how many there are, so that lists of
 * hundreds of thousands of rows may grow many times a second.
 */

import { type RefObject, useCallback, useEffect, useState } from 'react'

const OVERSCAN = 15

export type FixedRow = { index: number; start: number }

export type FixedRows = {
  rows: FixedRow[]
  heightPx: number
  /** `auto` moves only as far as it must. */
  scrollTo(index: number, align: 'auto' | 'center' | 'end'): void
}

type Sight = { first: number; last: number }

export function sightOf(scrollTop: number, clientHeight: number, rowPx: number): Sight {
  const first = Math.max(0, Math.floor(scrollTop / rowPx) - OVERSCAN)
  return { first, last: Math.ceil((scrollTop + clientHeight) / rowPx) + OVERSCAN }
}

export function useFixedRows(box: RefObject<HTMLElement | null>, count: number, rowPx: number): FixedRows {
  const [sight, setSight] = useState<Sight>({ first: 0, last: OVERSCAN * 4 })
  useEffect(() => {
    const shown = box.current
    if (!shown) return
    const look = () => {
      const next = sightOf(shown.scrollTop, shown.clientHeight, rowPx)
      setSight((before) => (before.first === next.first && before.last === next.last ? before : next))
    }
    look()
    shown.addEventListener('scroll', look, { passive: true })
    const observer = new ResizeObserver(look)
    observer.observe(shown)
    return () => {
      shown.removeEventListener('scroll', look)
      observer.disconnect()
    }
  }, [box, rowPx])
  const scrollTo = useCallback(
    (index: number, align: 'auto' | 'center' | 'end') => {
      const shown = box.current
      if (!shown) return
      const top = index * rowPx
      const bottom = top + rowPx - shown.clientHeight
      if (align === 'end') shown.scrollTop = bottom
      else if (align === 'center') shown.scrollTop = (top + bottom) / 2
      else if (top < shown.scrollTop) shown.scrollTop = top
      else if (bottom > shown.scrollTop) shown.scrollTop = bottom
    },
    [box, rowPx],
  )
  const first = Math.min(sight.first, count)
  const rows = Array.from({ length: Math.max(0, Math.min(sight.last, count) - first) }, (_, at) => {
    return { index: first + at, start: (first + at) * rowPx }
  })
  return { rows, heightPx: count * rowPx, scrollTo }
}
