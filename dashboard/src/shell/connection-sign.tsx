/** Says whether what is shown is kept up to date by itself. */

import { useConnection } from '../live/use-live.ts'
import { Hint } from '../parts/hint.tsx'
import classes from './connection-sign.module.css'

const WORDS = {
  live: { word: 'Live', hint: 'Everything on this page is kept up to date.' },
  connecting: { word: 'Connecting', hint: 'Waiting for the service.' },
  away: {
    word: 'Reconnecting',
    hint: 'The service cannot be reached; what is shown may be old. Trying again by itself.',
  },
} as const

export function ConnectionSign() {
  const connection = useConnection()
  const { word, hint } = WORDS[connection]
  return (
    <Hint text={hint}>
      <span className={classes.sign} data-connection={connection} role="status">
        <span className={classes.dot} aria-hidden />
        <span className={classes.word}>{word}</span>
      </span>
    </Hint>
  )
}
