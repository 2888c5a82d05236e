/** A state in a word, with a shape beside its colour: for what is neither a run nor an attempt. */

import classes from './status-badge.module.css'

export type Tone = 'good' | 'bad' | 'waiting' | 'running' | 'quiet'
export type Look = { word: string; shape: string; tone: Tone }

export function ToneBadge({ look: { word, shape, tone } }: { look: Look }) {
  return (
    <span className={classes.badge} data-tone={tone}>
      <span aria-hidden>{shape}</span> {word}
    </span>
  )
}
