/** Pages in the order of names: a cursor is the last name of the page before. */

import { Refusal } from '../run/errors.ts'

const NAME_LENGTH_MAX = 128

/** The first page begins after the empty name. */
export function nameOfCursor(cursor: string | null): string {
  if (cursor === null) return ''
  const name = Buffer.from(cursor, 'base64url').toString('utf8')
  const ours =
    name.length > 0 && name.length <= NAME_LENGTH_MAX && !name.includes('\0') && cursorOfName(name) === cursor
  if (ours) return name
  throw foreignCursor()
}

export function cursorOfName(name: string): string {
  return Buffer.from(name).toString('base64url')
}

export function foreignCursor(): Refusal {
  const detail = 'does not come from a page of this list'
  return new Refusal('invalid-query', 'The cursor is not one of ours.', { errors: [{ pointer: '/cursor', detail }] })
}

/** From one item more than asked for to a page. */
export function pageOf<Item>(
  found: Item[],
  limit: number,
  nameOf: (item: Item) => string,
): { items: Item[]; nextCursor: string | null } {
  const items = found.slice(0, limit)
  return { items, nextCursor: found.length > limit ? cursorOfName(nameOf(items.at(-1)!)) : null }
}
