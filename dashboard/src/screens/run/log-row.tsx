/** One line of a log: when, from where, and its text as text. */

import { memo, type ReactNode } from 'react'
import { formatMoment } from '../../parts/format.ts'
import classes from './log.module.css'
import { type LogLine, plainText } from './log-lines.ts'
import { clock } from './timeline-words.ts'

const MARKS_MAX = 20
const STREAMS = { stdout: 'out', stderr: 'err', log: 'log' } as const

/** `length` changes when a line that was not ended grows. */
export const LogRow = memo(function LogRow({ line, text, withAttempt }: LogRowProps) {
  return (
    <div className={classes.line} data-stream={line.stream}>
      <time className={classes.time} dateTime={line.at} title={formatMoment(line.at)}>
        {clock(Date.parse(line.at))}
      </time>
      {withAttempt && <span className={classes.attempt}>#{line.attempt}</span>}
      <span className={classes.stream}>{STREAMS[line.stream]}</span>
      <span className={classes.text}>{marked(plainText(line.text), text)}</span>
    </div>
  )
})

type LogRowProps = { line: LogLine; length: number; text: string; withAttempt: boolean }

function marked(line: string, text: string): ReactNode {
  if (text === '') return line
  const asked = text.toLowerCase()
  const low = line.toLowerCase()
  // Where changing the case changes the length, places would not be the same.
  if (low.length !== line.length) return line
  const parts: ReactNode[] = []
  let from = 0
  for (let to = low.indexOf(asked); to !== -1 && parts.length < MARKS_MAX * 2; to = low.indexOf(asked, from)) {
    parts.push(line.slice(from, to), <mark key={to}>{line.slice(to, to + asked.length)}</mark>)
    from = to + asked.length
  }
  return [...parts, line.slice(from)]
}
