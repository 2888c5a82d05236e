/** Which lines of a log hold a text, found in slices; lines that come later are looked at when they come. */

import { useEffect, useRef, useState } from 'react'
import { inSlices } from '../../parts/slices.ts'
import type { LogLines } from './log-lines.ts'
import type { LogState } from './log-source.ts'

export type LogMatches = {
  /** The numbers of the lines. */
  numbers: number[]
  isSearching: boolean
}

const NONE: LogMatches = { numbers: [], isSearching: false }

export function useLogMatches({ lines, version }: LogState, text: string): LogMatches {
  const [matches, setMatches] = useState(NONE)
  const seen = useRef({ lines, text, lastNo: 0, numbers: [] as number[] })
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version means new lines
  useEffect(() => {
    if (seen.current.text !== text || seen.current.lines !== lines) {
      seen.current = { lines, text, lastNo: 0, numbers: [] }
      setMatches(NONE)
    }
    if (text === '') return
    const at = seen.current
    const stop = new AbortController()
    const take = (numbers: number[], isDone: boolean) => {
      at.numbers = [...at.numbers, ...numbers.filter((no) => no > 0)]
      if (numbers.length > 0 || isDone) setMatches({ numbers: at.numbers, isSearching: !isDone })
      return true
    }
    void inSlices(matching(lines, text.toLowerCase(), at), take, stop.signal)
    return () => stop.abort()
  }, [lines, version, text])
  return matches
}

/** Zero stands for a thousand lines without a match. */
function* matching(lines: LogLines, asked: string, at: { lastNo: number }): Generator<number, void, void> {
  const firstNo = lines.leftOut + 1
  for (let no = Math.max(at.lastNo + 1, firstNo); no < firstNo + lines.count; no += 1) {
    const line = lines.at(no - firstNo)
    // Lines may have gone while this paused.
    if (!line) return
    at.lastNo = line.no
    if (line.text.toLowerCase().includes(asked)) yield line.no
    else if (no % 1_000 === 0) yield 0
  }
}
