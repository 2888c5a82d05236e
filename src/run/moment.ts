/**
 * A moment of the database: which transactions had been committed or rolled back by then, as Postgres says it in
 * `pg_current_snapshot()`.
 *
 * Numbers of transactions are given at the first write and events become visible at the commit, so no single number
 * says how far a reader has come. A moment does, whatever commits late.
 */

export type Moment = {
  /** Everything below had ended. */
  xmin: number
  /** Nothing from here on had begun. */
  xmax: number
  /** What was under way between the two, in ascending order. */
  xip: readonly number[]
}

const MOMENT = /^(\d{1,15}):(\d{1,15}):((?:\d{1,15})(?:,\d{1,15})*)?$/

/** Reads the text of a `pg_snapshot`. */
export function parseMoment(text: string): Moment {
  const match = MOMENT.exec(text)
  if (!match) throw new Error(`not a snapshot: ${text}`)
  return { xmin: Number(match[1]), xmax: Number(match[2]), xip: match[3] ? match[3].split(',').map(Number) : [] }
}

/** The part of a moment that lies before a transaction: of what came later nothing had ended. */
export function momentBefore(xid: number, now: Moment): Moment {
  if (xid >= now.xmax) return now
  return { xmin: Math.min(xid, now.xmin), xmax: xid, xip: now.xip.filter((running) => running < xid) }
}

export function hadEnded(moment: Moment, xid: number): boolean {
  if (xid < moment.xmin) return true
  return xid < moment.xmax && !moment.xip.includes(xid)
}

export function isSameMoment(a: Moment, b: Moment): boolean {
  return a.xmax === b.xmax && a.xip.length === b.xip.length && a.xip.every((xid, index) => xid === b.xip[index])
}

/** Whether everything that had ended at `earlier` had also ended at `later`. */
export function isAtOrAfter(later: Moment, earlier: Moment): boolean {
  return later.xmax >= earlier.xmax && later.xip.every((xid) => !hadEnded(earlier, xid))
}
