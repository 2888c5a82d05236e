/**
 * A clock that begins hours ago, waits there until it is told to go, runs through those hours in some seconds, and is
 * the real one from then on; it never jumps. For throw-away databases only: it replaces the database's `clock()`, and
 * `Date` in this process.
 */

import type pg from 'pg'

type Pool = Pick<pg.Pool, 'query'>
/** At the real moment `atMs` it shows `showsMs`, and from then on `speed` seconds in each real one, until it is right. */
type Pace = { atMs: number; showsMs: number; speed: number }

export type FastClock = {
  nowMs(): number
  /** To the database and to this process. */
  install(pool: Pool): Promise<void>
  /** Lets it run; answers when, in real time, it will be the real one, and how fast it is. */
  go(pool: Pool, seconds: number): Promise<{ endsMs: number; speed: number }>
  /** Out of this process again. */
  remove(): void
}

export function fastClock(hours: number): FastClock {
  const RealDate = Date
  const realMs = () => RealDate.now()
  let pace: Pace = { atMs: realMs(), showsMs: realMs() - hours * 3_600_000, speed: 1 }
  const nowMs = () => Math.min(realMs(), pace.showsMs + (realMs() - pace.atMs) * pace.speed)

  return {
    nowMs,
    async install(pool) {
      await setDatabaseClock(pool, pace)
      // Statistics begin where the migration that made their table ran.
      await pool.query('UPDATE holdfast.run_stats_cursor SET since = holdfast.clock()')
      globalThis.Date = class extends RealDate {
        constructor(...given: unknown[]) {
          super(...((given.length === 0 ? [nowMs()] : given) as [number]))
        }
        static override now = nowMs
      } as DateConstructor
    },
    async go(pool, seconds) {
      const atMs = realMs()
      const showsMs = nowMs()
      const endsMs = atMs + seconds * 1_000
      pace = { atMs, showsMs, speed: (endsMs - showsMs) / (endsMs - atMs) }
      await setDatabaseClock(pool, pace)
      return { endsMs, speed: pace.speed }
    },
    remove() {
      globalThis.Date = RealDate
    },
  }
}

async function setDatabaseClock(pool: Pool, { atMs, showsMs, speed }: Pace): Promise<void> {
  const passed = `(statement_timestamp() - to_timestamp(${atMs} / 1000.0))`
  await pool.query(
    `CREATE OR REPLACE FUNCTION holdfast.clock() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
     AS $$ SELECT least(statement_timestamp(), to_timestamp(${showsMs} / 1000.0) + ${passed} * ${speed}) $$`,
  )
}
