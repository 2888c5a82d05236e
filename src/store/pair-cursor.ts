/** Pages in the order of two texts: a cursor is the last pair of the page before. */

import { foreignCursor } from './name-cursor.ts'

export type Pair = [string, string]

export function cursorOfPair(pair: Pair): string {
  return Buffer.from(JSON.stringify(pair)).toString('base64url')
}

/** `isOurs` says whether a pair can have come from a page of this list. */
export function pairOfCursor(cursor: string, isOurs: (pair: Pair) => boolean): Pair {
  const pair = readPair(Buffer.from(cursor, 'base64url').toString())
  if (pair && isOurs(pair)) return pair
  throw foreignCursor()
}

function readPair(text: string): Pair | null {
  try {
    const given: unknown = JSON.parse(text)
    const isText = (value: unknown) => typeof value === 'string' && !value.includes('\u0000') && value.isWellFormed()
    return Array.isArray(given) && given.length === 2 && given.every(isText) ? (given as Pair) : null
  } catch {
    return null
  }
}
