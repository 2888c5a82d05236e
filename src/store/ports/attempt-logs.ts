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
  /** Attempts with a log of more than `bytes`, ended and open ones, among those that printed after `from` or are in `open`. */
  findLarge(options: { from: string | null; open: AttemptPlace[]; bytes: number; limit: number }): Promise<LargeLogs>
  /** All that is in rows of one attempt. */
  readWhole(place: AttemptPlace): Promise<StoredPiece[]>
  /** Puts a blob, which holds them all and is durable, in the place of the rows; false when they are not those any more. */
  pack(pack: NewPack): Promise<boolean>
  /** Of a run, the blobs with pieces after a number, in the order of these. */
  packs(runId: string, options: { attempt: number | null; after: number }): Promise<PackedLog[]>
  /** Forgets blobs of attempts that ended before, and answers where they are: they may be deleted now. */
  forgetPacksOlderThan(ageMs: number, limit: number): Promise<string[]>
}

export type AttemptPlace = { runId: string; attempt: number }
/** `upto` is where to go on from, `isMore` whether at once. */
export type LargeLogs = { ended: AttemptPlace[]; open: AttemptPlace[]; upto: string | null; isMore: boolean }

/** The pieces of one attempt in a blob, each as JSON on a line. `bytes` and `sha256` are of the blob. */
export type PackedLog = { attempt: number; firstNo: number; lastNo: number; bytes: number; sha256: string; ref: string }
export type NewPack = PackedLog & { runId: string; lastAt: Date; pieces: number }
