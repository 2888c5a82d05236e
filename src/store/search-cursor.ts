/**
 * Where a page ended: the time and id of the last run it looked at, and a mark of the list it belongs to. A cursor used with
 * another filter or order would silently skip runs, so it is refused.
 */

import { createHash } from 'node:crypto'
import { Refusal } from '../run/errors.ts'
import type { RunFilter, RunOrder } from './ports/search.ts'

export type Position = { at: string; id: string }

const CURSOR = /^(\d{1,16})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([0-9a-f]{16})$/

export function encodeCursor(createdAtUs: number, id: string, mark: string): string {
  return Buffer.from(`${createdAtUs}.${id}.${mark}`).toString('base64url')
}

export function decodeCursor(cursor: string, mark: string): Position {
  const match = CURSOR.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  if (!match) throw refused('The cursor is not one of ours.', 'does not come from a page of this list')
  if (match[3] !== mark) {
    throw refused('The cursor belongs to another list.', 'goes on with the filter and order it came from, and no other')
  }
  return positionOf(match[1]!, match[2]!)
}

export function positionOf(createdAtUs: number | string, id: string): Position {
  const micros = String(createdAtUs).padStart(7, '0')
  const seconds = Number(micros.slice(0, -6))
  return { at: new Date(seconds * 1000).toISOString().replace('.000Z', `.${micros.slice(-6)}Z`), id }
}

/** Equal for equal lists, whatever the order in which values were given. */
export function markOf(filter: RunFilter, order: RunOrder): string {
  const sorted = (_name: string, value: unknown) =>
    Array.isArray(value) && value.every((item) => typeof item === 'string') ? [...new Set(value)].toSorted() : value
  const entries = Object.entries(filter).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([entries, order], sorted))
    .digest('hex')
    .slice(0, 16)
}

function refused(message: string, detail: string): Refusal {
  return new Refusal('invalid-query', message, { errors: [{ pointer: '/cursor', detail }] })
}
