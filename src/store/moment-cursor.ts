/** Pages newest first: a cursor is when the last row of the page before was made, to the microsecond, and its id. */

import { cursorOfPair, type Pair, pairOfCursor } from './pair-cursor.ts'

const NEWEST: Pair = ['infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff']
const TIME = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z$/
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** `created_text` in UTC with six digits behind the second. */
export function cursorOfMoment({ created_text: at, id }: { created_text: string; id: string }): string {
  return cursorOfPair([at, id])
}

export function momentOfCursor(cursor: string | null): Pair {
  return cursor === null ? NEWEST : pairOfCursor(cursor, isPlace)
}

/** A day that a month does not have, such as the 31st of February, is no place either. */
function isPlace([at, id]: Pair): boolean {
  return TIME.test(at) && new Date(at).toISOString().slice(0, 10) === at.slice(0, 10) && ID.test(id)
}
