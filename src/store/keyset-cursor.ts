/** Cursors of lists with a plain key: the key of the last row of a page, wrapped so that nobody builds on what is inside. */

import { Refusal } from '../run/errors.ts'

export function encodeCursor(key: string | number): string {
  return Buffer.from(String(key)).toString('base64url')
}

/** Throws a Refusal for what does not hold such a key. */
export function decodeCursor(cursor: string, key: RegExp): string {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  if (key.test(text)) return text
  const detail = 'does not come from a page of this list'
  throw new Refusal('invalid-query', 'The cursor is not one of ours.', { errors: [{ pointer: '/cursor', detail }] })
}
