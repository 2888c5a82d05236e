/**
 * The lines of a log, only those in sight. It follows the end until the reader scrolls up, and again once they are back at the end. While they
 * read further up, what they look at stays where it is, also when old lines go.
 */

import { Button } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useFixedRows } from '../../parts/fixed-rows.ts'
import classes from './log.module.css'
import { LogRow } from './log-row.tsx'
import type { LogMatches } from './log-search.ts'
import type { LogState } from './log-source.ts'

const ROW_PX = 19
const END_PX = 30

export function LogBox({ log, matches, text, isOnly, isWrapped, withAttempts }: LogBoxProps) {
  const { lines, version } = log
  const box = useRef<HTMLElement>(null)
  const numbers = isOnly ? (matches?.numbers ?? []).filter((no) => no > lines.leftOut) : null
  const count = numbers ? numbers.length : lines.count
  const lineAt = (index: number) => lines.at(numbers ? numbers[index]! - lines.leftOut - 1 : index)
  const fixed = useFixedRows(box, count, ROW_PX)
  // Only wrapped lines have heights of their own, which have to be measured.
  const virtual = useVirtualizer({
    count: isWrapped ? count : 0,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => lineAt(index)?.no ?? index,
    overscan: 20,
  })
  const { scrollTo } = fixed
  const goTo = useCallback(
    (index: number, align: 'center' | 'end') =>
      isWrapped ? virtual.scrollToIndex(index, { align }) : scrollTo(index, align),
    [isWrapped, virtual, scrollTo],
  )
  const follow = useFollow(box, { goTo, count, version, isOnly })
  useStay(box, lines.leftOut, !follow.isFollowing && !isWrapped && !isOnly)
  return (
    <div className={classes.frame}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section ref={box} className={classes.box} aria-label="Log" tabIndex={0} onScroll={follow.onScroll}>
        <div
          className={classes.inside}
          data-wrap={isWrapped || undefined}
          style={{ height: isWrapped ? virtual.getTotalSize() : fixed.heightPx }}
        >
          {(isWrapped ? virtual.getVirtualItems() : fixed.rows).map(({ index, start }) => {
            const line = lineAt(index)
            if (!line) return null
            return (
              <div
                key={line.no}
                ref={isWrapped ? virtual.measureElement : undefined}
                data-index={index}
                className={classes.place}
                style={{ transform: `translateY(${start}px)` }}
              >
                <LogRow line={line} length={line.text.length} text={text} withAttempt={withAttempts} />
              </div>
            )
          })}
        </div>
      </section>
      <div className={classes.foot}>
        {matches && <MatchWalk matches={matches} onGo={(no) => follow.leaveFor(indexOf(no, numbers, lines.leftOut))} />}
        {!follow.isFollowing && (
          <Button size="compact-xs" onClick={follow.start}>
            Follow the end
          </Button>
        )}
      </div>
    </div>
  )
}

type LogBoxProps = {
  log: LogState
  /** Null while nothing is searched for. */
  matches: LogMatches | null
  text: string
  isOnly: boolean
  isWrapped: boolean
  withAttempts: boolean
}

function indexOf(no: number, numbers: number[] | null, leftOut: number): number {
  return numbers ? numbers.indexOf(no) : no - leftOut - 1
}

type Following = {
  goTo: (index: number, align: 'center' | 'end') => void
  count: number
  version: number
  isOnly: boolean
}

function useFollow(box: React.RefObject<HTMLElement | null>, { goTo, count, version, isOnly }: Following) {
  const [isFollowing, setFollowing] = useState(true)
  const lastTop = useRef(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: every new version has a new end
  useEffect(() => {
    if (isFollowing && count > 0) goTo(count - 1, 'end')
  }, [isFollowing, count, version, isOnly, goTo])
  return {
    isFollowing,
    start: () => setFollowing(true),
    leaveFor(index: number) {
      setFollowing(false)
      if (index >= 0) goTo(index, 'center')
    },
    onScroll() {
      const { scrollTop, scrollHeight, clientHeight } = box.current!
      const isUp = scrollTop < lastTop.current - 2
      lastTop.current = scrollTop
      const isAtEnd = scrollHeight - scrollTop - clientHeight < END_PX
      if (isAtEnd) setFollowing(true)
      else if (isUp) setFollowing(false)
    },
  }
}

/** Keeps the lines in sight in their place when so many before them have gone. */
function useStay(box: React.RefObject<HTMLElement | null>, leftOut: number, isStaying: boolean): void {
  const before = useRef(leftOut)
  useLayoutEffect(() => {
    const gone = leftOut - before.current
    before.current = leftOut
    if (isStaying && gone > 0 && box.current) box.current.scrollTop -= gone * ROW_PX
  }, [box, leftOut, isStaying])
}

function MatchWalk({ matches, onGo }: { matches: LogMatches; onGo: (no: number) => void }) {
  const { numbers, isSearching } = matches
  const [at, setAt] = useState(-1)
  const go = (by: number) => {
    const next = (Math.max(at, by > 0 ? -1 : 0) + by + numbers.length) % numbers.length
    setAt(next)
    onGo(numbers[next]!)
  }
  if (numbers.length === 0) return <span role="status">{isSearching ? 'Searching…' : 'No match'}</span>
  return (
    <>
      <Button size="compact-xs" variant="default" onClick={() => go(-1)}>
        Previous
      </Button>
      <Button size="compact-xs" variant="default" onClick={() => go(1)}>
        Next
      </Button>
      <span role="status">
        {at >= 0 && at < numbers.length ? `${at + 1} of ` : ''}
        {numbers.length} {numbers.length === 1 ? 'line matches' : 'lines match'}
      </span>
    </>
  )
}
