/** The log of a run as it is printed, read in slices and told a few times a second. */

import { useEffect, useState } from 'react'
import { client } from '../../client.ts'
import { breathe, sliceClock } from '../../parts/slices.ts'
import { LogLines } from './log-lines.ts'

const TELL_MS = 200

export type LogState = {
  lines: LogLines
  /** Changes whenever there is more. */
  version: number
  phase: 'connecting' | 'live' | 'away' | 'over'
  error: unknown
}

/** `again` starts it anew when it changes. */
export function useLog(runId: string, attempt: number | null, again: number): LogState {
  const [state, setState] = useState<LogState>(begin)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `again` is the wish to begin anew
  useEffect(() => {
    const { lines } = begin()
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | null = null
    const tell = (more: Partial<LogState> = {}) => {
      if (timer) clearTimeout(timer)
      timer = null
      if (!stop.signal.aborted) setState((before) => ({ ...before, version: before.version + 1, ...more }))
    }
    const onConnection = (isConnected: boolean) => tell({ phase: isConnected ? 'live' : 'away' })
    setState({ ...begin(), lines })
    const read = async () => {
      const slice = sliceClock()
      const options = { signal: stop.signal, onConnection, ...(attempt !== null && { attempt }) }
      for await (const piece of client.followLogs(runId, options)) {
        lines.add(piece)
        timer ??= setTimeout(tell, TELL_MS)
        if (slice.isOver()) {
          await breathe()
          slice.restart()
        }
      }
    }
    read().then(
      () => tell({ phase: 'over' }),
      (error) => tell({ phase: 'over', error }),
    )
    return () => {
      stop.abort()
      if (timer) clearTimeout(timer)
    }
  }, [runId, attempt, again])
  return state
}

function begin(): LogState {
  return { lines: new LogLines(), version: 0, phase: 'connecting', error: null }
}
