/** The verbs of the outbox, bound to their pools. */

import type pg from 'pg'
import { SPREAD_DEFAULTS, type SpreadSettings } from '../run/fact.ts'
import { forgetFacts } from './forget-facts.ts'
import type { Outbox } from './ports/outbox.ts'
import { readBacklog } from './read-backlog.ts'
import { spreadFacts } from './spread-facts.ts'
import { watchBatches } from './watch-batches.ts'
import { writeWantedFacts } from './write-facts.ts'

type Answered = <T>(asked: Promise<T>) => Promise<T>

export type OutboxOptions = {
  /** With plans for look-ups by index. */
  pinned: pg.Pool
  reads: pg.Pool
  settings?: Partial<SpreadSettings>
}

export function createOutbox({ pinned, reads, settings }: OutboxOptions, answered: Answered): Outbox {
  const all = { ...SPREAD_DEFAULTS, ...settings }
  return {
    spread: (limit) => spreadFacts(pinned, limit, all),
    watchBatches: (limit) => watchBatches(reads, limit),
    announce: (facts) => answered(writeWantedFacts(reads, facts)),
    backlog: () => answered(readBacklog(pinned)),
    forget: (olderThanDays) => forgetFacts(pinned, olderThanDays),
  }
}
