/** The verbs of attempts' logs, bound to their pools. */

import type pg from 'pg'
import { appendLogs } from './append-logs.ts'
import { deleteLogs } from './delete-logs.ts'
import { findLargeLogs, findPacks, forgetPacks, packLog, readWholeLog } from './pack-log.ts'
import type { AttemptLogs } from './ports/attempt-logs.ts'
import { readLogs, readNewLogs } from './read-logs.ts'

type Answered = <T>(asked: Promise<T>) => Promise<T>

export type AttemptLogsOptions = { work: pg.Pool; reads: pg.Pool; bytesMax?: number | undefined }

export function createAttemptLogs({ work, reads, bytesMax }: AttemptLogsOptions, answered: Answered): AttemptLogs {
  return {
    append: (items) => answered(appendLogs(work, items, bytesMax)),
    read: (runId, options) => answered(readLogs(reads, runId, options)),
    readNew: (places) => readNewLogs(work, places),
    deleteOlderThan: (ageMs, limit) => deleteLogs(work, ageMs, limit),
    findLarge: (options) => findLargeLogs(reads, options),
    readWhole: (place) => readWholeLog(reads, place),
    pack: (pack) => packLog(reads, pack),
    packs: (runId, options) => answered(findPacks(reads, runId, options)),
    forgetPacksOlderThan: (ageMs, limit) => forgetPacks(reads, ageMs, limit),
  }
}
