/**
 * One file on its way from the browser to the service, as a state machine. What does not fit the state a row is in changes nothing, so
 * that a late answer cannot bring back what is over.
 *
 *     waiting → checking → checked → sending → in
 *                  │          ↑  └─ twin ──────↗       (the same as another file of the drop: waits for that one)
 *                  └──────────────── in                (the service has it: nothing is sent)
 *     checking, checked, twin, sending → failed → waiting or checked   (retry)
 */

import type { Upload } from '@holdfast/client'
import type { Advice } from './advice.ts'

export type RowState =
  | { at: 'waiting' }
  | { at: 'checking'; read: number }
  | { at: 'checked' }
  | { at: 'twin'; of: number }
  | { at: 'sending'; sent: number }
  | { at: 'in'; upload: Upload }
  | { at: 'failed'; advice: Advice }

export type Row = {
  id: number
  name: string
  /** With the folders it was dropped in. */
  path: string
  size: number
  /** Known once it has been read. */
  sha256: string | null
  state: RowState
}

export type RowEvent =
  | { type: 'check' }
  | { type: 'read'; bytes: number }
  | { type: 'known'; sha256: string }
  | { type: 'twin'; of: number }
  | { type: 'send' }
  | { type: 'sent'; bytes: number }
  | { type: 'arrived'; upload: Upload }
  | { type: 'refused'; advice: Advice }
  /** Broken off through no fault of the file: paused, or the service is away. */
  | { type: 'held' }
  | { type: 'retry' }

export function after(row: Row, event: RowEvent): Row {
  const { at } = row.state
  const to = (state: RowState): Row => ({ ...row, state })
  switch (event.type) {
    case 'check':
      return at === 'waiting' ? to({ at: 'checking', read: 0 }) : row
    case 'read':
      return at === 'checking' ? to({ at: 'checking', read: Math.min(event.bytes, row.size) }) : row
    case 'known':
      return at === 'checking' ? { ...row, sha256: event.sha256, state: { at: 'checked' } } : row
    case 'twin':
      return at === 'checked' ? to({ at: 'twin', of: event.of }) : row
    case 'send':
      return at === 'checked' || at === 'twin' ? to({ at: 'sending', sent: 0 }) : row
    case 'sent':
      return at === 'sending' ? to({ at: 'sending', sent: Math.min(event.bytes, row.size) }) : row
    case 'arrived':
      return at === 'in' || at === 'waiting' ? row : to({ at: 'in', upload: event.upload })
    case 'refused':
      return at === 'in' || at === 'waiting' ? row : to({ at: 'failed', advice: event.advice })
    case 'held':
      return at === 'in' || at === 'failed' || at === 'waiting' ? row : to(beginning(row))
    case 'retry':
      return at === 'failed' ? to(beginning(row)) : row
  }
}

/** What has been read once need not be read again. */
function beginning({ sha256 }: Row): RowState {
  return sha256 === null ? { at: 'waiting' } : { at: 'checked' }
}

/** Nothing more happens to it by itself. */
export function isSettled({ state: { at } }: Row): boolean {
  return at === 'in' || at === 'failed'
}

/** Of its bytes: all, when the service has the file, however it got it. */
export function bytesThere({ state, size }: Row): number {
  if (state.at === 'in') return size
  return state.at === 'sending' ? state.sent : 0
}
