/**
 * JSON as rows of a tree, made only as far as it is open. Long lists and large objects are parted into groups of a thousand, so that
 * opening anything makes a bounded number of rows, whatever the size of the whole.
 *
 * A row has an id that says where it is; the rows that are open are a set of such ids.
 */

export const GROUP_SIZE = 1_000

/** As the service shows a value whose name is sensitive. */
export const REDACTED = '[redacted]'

export type JsonPath = (string | number)[]

export type JsonRow = {
  id: string
  parentId: string | null
  depth: number
  /** Of a member or an element; null for the whole and for groups. */
  name: string | number | null
  value: unknown
  path: JsonPath
  /** How many it has; null for what cannot be opened. */
  size: number | null
  /** Of a group: the first and the last place in its list or object. */
  group: { from: number; to: number } | null
}

/** Equal for equal paths. */
export function pathKey(path: JsonPath): string {
  return path.join('\n')
}

export function rootOf(value: unknown): JsonRow {
  return { id: '', parentId: null, depth: 0, name: null, value, path: [], size: sizeOf(value), group: null }
}

/** Null for what has nothing inside. */
export function sizeOf(value: unknown): number | null {
  if (Array.isArray(value)) return value.length
  if (typeof value === 'object' && value !== null) return namesOf(value).length
  return null
}

const knownNames = new WeakMap<object, string[]>()

/** Of an object; listed once, since a large one is asked often. */
export function namesOf(value: object): string[] {
  const known = knownNames.get(value)
  if (known) return known
  const names = Object.keys(value)
  knownNames.set(value, names)
  return names
}

export function childrenOf(row: JsonRow): JsonRow[] {
  const { value, size, group } = row
  if (size === null) return []
  const from = group?.from ?? 0
  const count = group ? group.to - group.from + 1 : size
  const width = groupWidth(count)
  if (width > 1) return groupsOf(row, from, count, width)
  const names = Array.isArray(value) ? null : namesOf(value as object)
  return Array.from({ length: count }, (_, index) => memberOf(row, names ? names[from + index]! : from + index))
}

function memberOf(row: JsonRow, name: string | number): JsonRow {
  const value = (row.value as Record<string | number, unknown>)[name]
  return {
    id: `${row.id}\n${name}`,
    parentId: row.id,
    depth: row.depth + 1,
    name,
    value,
    path: [...row.path, name],
    size: sizeOf(value),
    group: null,
  }
}

function groupsOf(row: JsonRow, from: number, count: number, width: number): JsonRow[] {
  return Array.from({ length: Math.ceil(count / width) }, (_, index) => {
    const first = from + index * width
    const group = { from: first, to: Math.min(first + width, from + count) - 1 }
    const size = group.to - group.from + 1
    return { ...row, id: groupId(row.id, group), parentId: row.id, depth: row.depth + 1, name: null, size, group }
  })
}

/** How many go into one group; 1 when they need no groups. */
function groupWidth(count: number): number {
  let width = 1
  while (count / width > GROUP_SIZE) width *= GROUP_SIZE
  return width
}

// A line feed parts names, two of them mark a group: a name may be empty or hold a line feed itself, which at worst opens two rows at once.
function groupId(id: string, { from, to }: { from: number; to: number }): string {
  return `${id}\n\n${from}-${to}`
}

/** The rows that are shown when these are open. */
export function openRows(root: JsonRow, open: ReadonlySet<string>): JsonRow[] {
  const rows: JsonRow[] = []
  const stack = [root]
  for (let row = stack.pop(); row; row = stack.pop()) {
    rows.push(row)
    if (row.size !== null && open.has(row.id)) stack.push(...childrenOf(row).reverse())
  }
  return rows
}

/** What to open so that about so many rows are shown, the outer before the inner; `isAll` when nothing is left closed. */
export function openUpTo(root: JsonRow, rowsMax: number): { open: Set<string>; isAll: boolean } {
  const open = new Set<string>()
  let count = 1
  let isAll = true
  const line = [root]
  for (let index = 0; index < line.length; index += 1) {
    const row = line[index]!
    if (row.size === null || row.size === 0) continue
    const inside = Math.ceil(row.size / groupWidth(row.size))
    if (count + inside > rowsMax) {
      isAll = false
      continue
    }
    count += inside
    open.add(row.id)
    line.push(...childrenOf(row))
  }
  return { open, isAll }
}

/** What must be open for the value at a path to be shown, and the id of its row. */
export function wayTo(root: JsonRow, path: JsonPath): { open: string[]; id: string } {
  const open: string[] = []
  let row = root
  for (const name of path) {
    const place = Array.isArray(row.value) ? Number(name) : namesOf(row.value as object).indexOf(String(name))
    for (let count = row.size!; groupWidth(count) > 1; count = row.size!) {
      open.push(row.id)
      const width = groupWidth(count)
      const from = row.group?.from ?? 0
      const first = from + Math.floor((place - from) / width) * width
      const group = { from: first, to: Math.min(first + width, from + count) - 1 }
      row = { ...row, id: groupId(row.id, group), size: group.to - group.from + 1, group }
    }
    open.push(row.id)
    row = memberOf(row, name)
  }
  return { open, id: row.id }
}
