/** A time: how long ago, and, for those who point at it or read with a machine, exactly when. */

import { memo } from 'react'
import { formatAgo, formatDuration, formatMoment, secondsBetween } from './format.ts'
import { useNowMs } from './now.ts'

export const Moment = memo(function Moment({ at }: { at: string | null }) {
  const nowMs = useNowMs()
  if (at === null) return <span>–</span>
  return (
    <time dateTime={at} title={formatMoment(at)}>
      {formatAgo(at, nowMs)}
    </time>
  )
})

/** How long it took, or has taken up to now. */
export function Elapsed({ from, to }: { from: string | null; to: string | null }) {
  if (from === null) return <span>–</span>
  return to === null ? <Running from={from} /> : <span>{formatDuration(secondsBetween(from, to))}</span>
}

function Running({ from }: { from: string }) {
  const nowMs = useNowMs()
  return <span>{formatDuration(Math.max(0, Math.floor((nowMs - Date.parse(from)) / 1_000)))}</span>
}
