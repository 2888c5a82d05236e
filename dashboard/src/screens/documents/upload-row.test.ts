import type { Upload } from '@holdfast/client'
import { describe, expect, it } from 'vitest'
import { after, bytesThere, isSettled, type Row, type RowEvent, type RowState } from './upload-row.ts'

const upload = { upload_id: 'u', state: 'UPLOADED' } as Upload
const advice = { what: 'It is too large.', todo: 'Make it smaller.' }
const row = (state: RowState, sha256: string | null = 'ab'): Row => ({
  ...{ id: 1, name: 'a.pdf', path: 'may/a.pdf', size: 100, sha256, state },
})
const STATES: RowState[] = [
  { at: 'waiting' },
  { at: 'checking', read: 5 },
  { at: 'checked' },
  { at: 'twin', of: 2 },
  { at: 'sending', sent: 40 },
  { at: 'in', upload },
  { at: 'failed', advice },
]
const EVENTS: RowEvent[] = [
  { type: 'check' },
  { type: 'read', bytes: 50 },
  { type: 'known', sha256: 'cd' },
  { type: 'twin', of: 3 },
  { type: 'send' },
  { type: 'sent', bytes: 500 },
  { type: 'arrived', upload },
  { type: 'refused', advice },
  { type: 'held' },
  { type: 'retry' },
]

/** Every state with every event; a dash is no change. */
const TABLE: Record<RowState['at'], string> = {
  waiting: 'checking - - - - - - - - -',
  checking: '- checking checked - - - in failed checked -',
  checked: '- - - twin sending - in failed checked -',
  twin: '- - - - sending - in failed checked -',
  sending: '- - - - - sending in failed checked -',
  in: '- - - - - - - - - -',
  // A refusal of what has failed says the newer reason.
  failed: '- - - - - - in failed - checked',
}

describe('a file on its way', () => {
  it.each(STATES)('$at: what happens to it', (state) => {
    const became = EVENTS.map((event) => {
      const before = row(state)
      const now = after(before, event)
      return now === before ? '-' : now.state.at
    })
    expect(became).toEqual(TABLE[state.at].split(' '))
  })

  it('a whole way', () => {
    let one = row({ at: 'waiting' }, null)
    for (const event of EVENTS.filter(({ type }) => ['check', 'known', 'send', 'arrived'].includes(type)))
      one = after(one, event)
    expect(one).toMatchObject({ sha256: 'cd', state: { at: 'in', upload } })
    expect([isSettled(one), bytesThere(one)]).toEqual([true, 100])
  })

  it('what has not been read yet begins anew after a break', () => {
    expect(after(row({ at: 'checking', read: 5 }, null), { type: 'held' }).state).toEqual({ at: 'waiting' })
    expect(after(row({ at: 'failed', advice }, null), { type: 'retry' }).state).toEqual({ at: 'waiting' })
  })

  it('bytes are never more than the file has', () => {
    expect(bytesThere(after(row({ at: 'sending', sent: 0 }), { type: 'sent', bytes: 500 }))).toBe(100)
    expect(bytesThere(row({ at: 'checked' }))).toBe(0)
  })
})
