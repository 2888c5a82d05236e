/**
 * The rows, of which only those in view exist. New runs never move what someone reads: further down they are told of instead.
 * One row at a time is in the order of Tab; j and k, or the arrows, move it.
 */

import { Button, Loader } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { defaultRangeExtractor, type Range, useWindowVirtualizer } from '@tanstack/react-virtual'
import { lazy, Suspense, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { formatCount, formatNumber } from '../../parts/format.ts'
import type { Condition } from './filter.ts'
import { MarkedBar, useMarks } from './marks.tsx'
import { ROWS_MAX, type RunList, type Shown } from './run-list.ts'
import type { RunRow } from './run-row.ts'
import { Row } from './run-row-view.tsx'
import classes from './run-table.module.css'
import { useRowKeys } from './use-row-keys.ts'
import { useShown } from './use-run-list.ts'
import { useSteadyScroll } from './use-steady-scroll.ts'

const NoRuns = lazy(() => import('./no-runs.tsx'))

const ROW_PX = 34
const PHONE_ROW_PX = 54
const OVERSCAN = 10
/** So many rows before the end the next page is asked for. */
const READ_AHEAD = 80
/** Of the frame's bar and the heads of the columns, under which nothing must hide. */
const COVERED_PX = 48 + 30

type RunTableProps = {
  list: RunList
  refresh: () => void
  conditions: readonly Condition[]
  onChange: (wanted: Condition[]) => void
}

export function RunTable({ list, refresh, conditions, onChange }: RunTableProps) {
  const shown = useShown(list)
  const { rows, hasMore, isReading } = shown
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false }) ?? false
  const rowPx = isPhone ? PHONE_ROW_PX : ROW_PX
  const [activeId, setActiveId] = useState(list.activeId)
  const box = useRef<HTMLOListElement>(null)
  const marginPx = useTop(box)
  const marks = useMarks()
  const activeIndex = activeId === null ? -1 : rows.findIndex(({ runId }) => runId === activeId)

  const virtualizer = useVirtualRows({ rows, rowPx, marginPx, activeIndex })
  useSteadyScroll(rows, rowPx, marginPx)

  const from = virtualizer.range?.startIndex ?? 0
  const to = virtualizer.range?.endIndex ?? 0
  useEffect(() => {
    list.view = { from, to }
    if (list.isOld) refresh()
    if (hasMore && !isReading && !shown.error && to >= rows.length - READ_AHEAD) void list.more()
  }, [list, from, to, rows.length, hasMore, isReading, shown.error, refresh])

  const activate = useCallback(
    (runId: string | null) => {
      list.activeId = runId
      setActiveId(runId)
    },
    [list],
  )
  const onKeyDown = useRowKeys({ rows, activeIndex, activate, virtualizer, marks })
  const showNewest = () => {
    window.scrollTo({ top: 0 })
    void list.showNewest().catch(() => refresh())
  }

  if (rows.length === 0 && !hasMore) {
    return (
      <Suspense>
        <NoRuns conditions={conditions} onChange={onChange} />
      </Suspense>
    )
  }
  return (
    <section className={classes.list} aria-label="List of runs">
      <NewRuns shown={shown} onShow={showNewest} />
      <Heads />
      <ol ref={box} className={classes.rows} style={{ height: virtualizer.getTotalSize() }} onKeyDown={onKeyDown}>
        {virtualizer.getVirtualItems().map(({ index, start }) => (
          <Row
            key={rows[index]!.runId}
            row={rows[index]!}
            index={index}
            topPx={start - marginPx}
            heightPx={rowPx}
            isTabStop={activeIndex < 0 ? index === from : index === activeIndex}
            isMarked={marks.ids.includes(rows[index]!.runId)}
            onFocus={activate}
            onMark={marks.toggle}
          />
        ))}
      </ol>
      <End shown={shown} onMore={() => void list.more()} />
      <MarkedBar marks={marks} />
    </section>
  )
}

type VirtualRows = { rows: readonly RunRow[]; rowPx: number; marginPx: number; activeIndex: number }

function useVirtualRows({ rows, rowPx, marginPx, activeIndex }: VirtualRows) {
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowPx,
    getItemKey: useCallback((index: number) => rows[index]?.runId ?? index, [rows]),
    overscan: OVERSCAN,
    scrollMargin: marginPx,
    scrollPaddingStart: COVERED_PX,
    scrollPaddingEnd: 8,
    initialOffset: () => window.scrollY,
    // What has the focus stays, or the focus would be lost.
    rangeExtractor: (range: Range) => {
      const indexes = defaultRangeExtractor(range)
      return activeIndex < 0 || indexes.includes(activeIndex)
        ? indexes
        : [...indexes, activeIndex].sort((a, b) => a - b)
    },
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: another height of the rows is what it is about
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, rowPx])
  return virtualizer
}

/** What stands above the list may grow and shrink. */
function useTop(box: React.RefObject<HTMLElement | null>): number {
  const [topPx, setTopPx] = useState(0)
  useLayoutEffect(() => {
    const measure = () => {
      if (box.current) setTopPx(Math.round(box.current.getBoundingClientRect().top + window.scrollY))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [box])
  return topPx
}

function Heads() {
  return (
    <div className={classes.heads} aria-hidden>
      <span className={classes.mark} />
      <div className={classes.grid}>
        <span className={classes.status}>Status</span>
        <span className={classes.title}>Run</span>
        <span className={classes.model}>Model</span>
        <span className={classes.owner}>Owner</span>
        <span className={classes.queue}>Queue</span>
        <span className={classes.tags}>Tags</span>
        <span className={classes.error}>Error</span>
        <span className={classes.attempts}>Attempts</span>
        <span className={classes.duration}>Took</span>
        <span className={classes.created}>Created</span>
      </div>
    </div>
  )
}

function NewRuns({ shown: { ahead }, onShow }: { shown: Shown; onShow: () => void }) {
  const { count, isMore } = ahead
  const words = `${formatCount(count, isMore)} new ${count === 1 && !isMore ? 'run' : 'runs'}, show`
  return (
    <div className={classes.news} role="status">
      {count > 0 && (
        <Button size="compact-sm" radius="xl" onClick={onShow}>
          {words}
        </Button>
      )}
    </div>
  )
}

function End({ shown: { rows, hasMore, isReading, error }, onMore }: { shown: Shown; onMore: () => void }) {
  if (error) return <ErrorNotice error={error} onRetry={onMore} />
  if (rows.length >= ROWS_MAX) {
    return <p className={classes.end}>These are {formatNumber(ROWS_MAX)} runs. Narrow the filter to see others.</p>
  }
  if (hasMore) {
    return (
      <p className={classes.end} role="status">
        {isReading && <Loader size={12} aria-hidden />} Reading on…
      </p>
    )
  }
  return <p className={classes.end}>{rows.length === 1 ? 'That is the only run.' : 'That is all of them.'}</p>
}

const SKELETON = Array.from({ length: 14 }, (_, index) => index)

export function RunTableSkeleton() {
  return (
    <div role="status" aria-label="Reading the runs">
      <Heads />
      <div className={classes.skeleton}>
        {SKELETON.map((index) => (
          <div key={index} className={classes.ghost} />
        ))}
      </div>
    </div>
  )
}
