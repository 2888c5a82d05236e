/** JSON as its lines, written in slices and shown only as far as they are in sight. */

import { useEffect, useRef, useState } from 'react'
import { useFixedRows } from './fixed-rows.ts'
import { formatNumber } from './format.ts'
import classes from './json-view.module.css'
import { ROW_PX } from './json-view-tree-box.tsx'
import { linesOf } from './json-view-walk.ts'
import { inSlices } from './slices.ts'

const LINES_MAX = 300_000
const LINE_LENGTH_MAX = 2_000
/** How often what was written up to then is shown. */
const TELL_MS = 300

type Written = { lines: string[]; count: number; isCapped: boolean }

export function JsonRaw({ value, label }: { value: unknown; label: string }) {
  const { lines, count, isCapped } = useLines(value)
  const box = useRef<HTMLElement>(null)
  const { rows, heightPx } = useFixedRows(box, count, ROW_PX)
  return (
    <>
      {isCapped && (
        <div className={classes.note}>
          The first {formatNumber(LINES_MAX)} lines are shown. Download it to see all of them.
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section ref={box} className={classes.box} aria-label={label} tabIndex={0}>
        <div className={classes.inside} style={{ height: heightPx }}>
          {rows.map(({ index, start }) => (
            <div key={index} className={classes.row} style={{ transform: `translateY(${start}px)`, paddingLeft: 12 }}>
              {shownLine(lines[index]!)}
            </div>
          ))}
        </div>
      </section>
    </>
  )
}

function useLines(value: unknown): Written {
  const [written, setWritten] = useState<Written>({ lines: [], count: 0, isCapped: false })
  useEffect(() => {
    const stop = new AbortController()
    const lines: string[] = []
    let toldMs = Number.NEGATIVE_INFINITY
    const take = (more: string[], isDone: boolean) => {
      for (const line of more) lines.push(line)
      const isCapped = lines.length > LINES_MAX
      if (!isDone && !isCapped && performance.now() - toldMs < TELL_MS) return true
      toldMs = performance.now()
      // The list itself only grows; its length says how much of it is there.
      setWritten({ lines, count: Math.min(lines.length, LINES_MAX), isCapped })
      return !isCapped
    }
    void inSlices(linesOf(value), take, stop.signal)
    return () => stop.abort()
  }, [value])
  return written
}

function shownLine(line: string): string {
  if (line.length <= LINE_LENGTH_MAX) return line
  return `${line.slice(0, LINE_LENGTH_MAX)}… ${formatNumber(line.length)} characters`
}
