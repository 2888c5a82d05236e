/**
 * Sorts the processes of the machine by the watched program they belong to.
 *
 * Reading the environment of a process costs more than the rest together, so a process once found to be a stranger is not asked again.
 */

import { type ProcessRow, readMark } from './process-table.ts'

export type Root = {
  /** The program's first process, which leads a group and a session of its own. */
  pid: number
  mark: string
  /** Those seen to belong to it, by their start. */
  members: Map<number, number>
}

export class ProcessOwners {
  /** Marks begin with this; whose attempt has not been announced yet is no stranger. */
  readonly #prefix: string
  #strangers = new Map<number, number>()

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** The living processes of each root; their `members` are brought up to date. Those with our mark and no root are under null. */
  sort<R extends Root>(rows: readonly ProcessRow[], roots: Iterable<R>): Map<R | null, ProcessRow[]> {
    const byLeader = new Map<number, R>()
    const byMark = new Map<string, R>()
    const known = new Map<string, R>()
    for (const root of roots) {
      byLeader.set(root.pid, root)
      byMark.set(root.mark, root)
      for (const [pid, startTicks] of root.members) known.set(`${pid} ${startTicks}`, root)
      root.members.clear()
    }
    const table = new Map(rows.map((row) => [row.pid, row]))
    const found = new Map<number, R | null | undefined>()
    const strangers = new Map<number, number>()
    const ownerOf = (row: ProcessRow): R | null | undefined => {
      if (found.has(row.pid)) return found.get(row.pid)
      found.set(row.pid, undefined)
      const parent = table.get(row.parent)
      let owner: R | null | undefined =
        byLeader.get(row.group) ??
        byLeader.get(row.session) ??
        known.get(`${row.pid} ${row.startTicks}`) ??
        (parent && ownerOf(parent))
      if (owner === undefined && this.#strangers.get(row.pid) !== row.startTicks) {
        const mark = readMark(row.pid)
        if (mark?.startsWith(this.#prefix)) owner = byMark.get(mark) ?? null
      }
      if (owner === undefined) strangers.set(row.pid, row.startTicks)
      found.set(row.pid, owner)
      return owner
    }
    const sorted = new Map<R | null, ProcessRow[]>()
    for (const row of rows) {
      const owner = ownerOf(row)
      if (owner === undefined) continue
      owner?.members.set(row.pid, row.startTicks)
      sorted.set(owner, [...(sorted.get(owner) ?? []), row])
    }
    this.#strangers = strangers
    return sorted
  }
}
