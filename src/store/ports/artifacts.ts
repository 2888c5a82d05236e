/**
 * Files that attempts left. They are put on record before their attempt ends, by whoever holds its lease, and never change. Names are as the
 * program gave them, with slashes for folders; they are compared and never followed.
 */

import type { Fence } from './attempts.ts'

/** `ref` is where the blob store has the bytes. */
export type NewArtifact = { name: string; bytes: number; sha256: string; ref: string }

export type StoredArtifact = NewArtifact & { attempt: number; at: Date }

export interface Artifacts {
  /** Recording the same again changes nothing. False, and nothing is written, when the lease is lost. */
  record(fence: Fence, artifacts: readonly NewArtifact[]): Promise<boolean>
  /** In the order of attempts and names. */
  list(
    runId: string,
    page: { attempt: number | null; limit: number; cursor: string | null },
  ): Promise<{ items: StoredArtifact[]; nextCursor: string | null }>
  find(runId: string, attempt: number, name: string): Promise<StoredArtifact | null>
}
