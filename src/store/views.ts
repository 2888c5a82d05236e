/** Saved views: a small table, each verb one guarded statement. */

import type pg from 'pg'
import { cursorOfPair, pairOfCursor } from './pair-cursor.ts'
import { isUniqueViolation } from './pg-errors.ts'
import type { RunOrder } from './ports/search.ts'
import type { View, Views } from './ports/views.ts'

export const VIEWS_PER_OWNER_MAX = 200

const COLUMNS = `id, owner, name, filter, "order", shared, created_at, updated_at`

const CREATE = `
INSERT INTO views (owner, name, filter, "order", shared)
SELECT $1, $2, $3, $4, $5 WHERE (SELECT count(*) FROM views WHERE owner = $1) < $6
ON CONFLICT (owner, name) DO NOTHING
RETURNING ${COLUMNS}`

const NAME_TAKEN = 'SELECT FROM views WHERE owner = $1 AND name = $2'

const READ = `SELECT ${COLUMNS} FROM views WHERE id = $1 AND (owner = $2 OR shared OR $3::text IS NULL)`

const LIST = `
SELECT ${COLUMNS} FROM views WHERE (owner = $1 OR shared) AND (name, id) > ($2, $3::uuid) ORDER BY name, id LIMIT $4`

const REPLACE = `
UPDATE views SET name = $4, filter = $5, "order" = $6, shared = $7, updated_at = clock()
WHERE id = $1 AND (owner = $2 OR $3::text IS NULL)
RETURNING ${COLUMNS}`

const REMOVE = `DELETE FROM views WHERE id = $1 AND (owner = $2 OR $3::text IS NULL)`

const NIL = '00000000-0000-0000-0000-000000000000'
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

type Row = {
  id: string
  owner: string
  name: string
  filter: unknown
  order: RunOrder
  shared: boolean
  created_at: Date
  updated_at: Date
}

export function createViews(pool: pg.Pool, answered: <T>(asked: Promise<T>) => Promise<T>): Views {
  const ask = async (text: string, values: unknown[]) =>
    (await answered(pool.query<Row>(text, values))).rows.map(viewOfRow)
  return {
    async create({ owner, name, filter, order, shared }) {
      const [view] = await ask(CREATE, [owner, name, JSON.stringify(filter), order, shared, VIEWS_PER_OWNER_MAX])
      if (view) return view
      return (await ask(NAME_TAKEN, [owner, name])).length > 0 ? 'exists' : 'too-many'
    },
    async read(id, { owner, sees }) {
      return (await ask(READ, [id, owner, sees]))[0] ?? null
    },
    async list({ owner }, { limit, cursor }) {
      const [name, id] = cursor === null ? ['', NIL] : pairOfCursor(cursor, ([, last]) => ID.test(last))
      const found = await ask(LIST, [owner, name, id, limit + 1])
      const views = found.slice(0, limit)
      const last = views.at(-1)
      return { views, nextCursor: found.length > limit && last ? cursorOfPair([last.name, last.id]) : null }
    },
    async replace(id, { name, filter, order, shared }, { owner, sees }) {
      try {
        return (await ask(REPLACE, [id, owner, sees, name, JSON.stringify(filter), order, shared]))[0] ?? null
      } catch (error) {
        if (isUniqueViolation(error, 'views_name_of_owner')) return 'exists'
        throw error
      }
    },
    async remove(id, { owner, sees }) {
      return (await answered(pool.query(REMOVE, [id, owner, sees]))).rowCount === 1
    },
  }
}

function viewOfRow(row: Row): View {
  const { id, owner, name, filter, order, shared } = row
  return { id, owner, name, filter, order, shared, createdAt: row.created_at, updatedAt: row.updated_at }
}
