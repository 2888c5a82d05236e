/**
 * What attempts print, kept per attempt in pieces, readable while it runs. Each attempt has a limit; what is over it is dropped and a marker says
 * so. Appends are fenced: a lost attempt writes nothing more.
 */

import type { Fence } from './attempts.ts'

export type LogStream = 'stdout' | 'stderr' | 'log'

export type LogPiece = { stream: LogStream; text: string }

/** `no` counts the pieces of a run over all its attempts and is the place to go on from. */
export type StoredPiece = LogPiece & { no: number; attempt: number; at: Date }

export interface AttemptLogs {
  /** Answers those whose lease is lost. */
  append(items: { fence: Fence; pieces: LogPiece[] }[]): Promise<{ lost: Fence[] }>
  read(
    runId: string,
    options: { attempt: number | null; after: number; limit: number },
  ): Promise<{ pieces: StoredPiece[]; next: number | null }>
  /** Of several runs, what came after the places given, a page of each; runs without any are not named. */
  readNew(places: { runId: string; after: number }[]): Promise<Map<string, StoredPiece[]>>
  /** Deletes the logs of attempts that ended before, a batch at a time. */
  deleteOlderThan(ageMs: number, limit: number): Promise<number>
}
