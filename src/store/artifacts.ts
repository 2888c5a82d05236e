/** The verbs of the files that attempts left, bound to their pools. */

import type pg from 'pg'
import type { Artifacts } from './ports/artifacts.ts'
import { findArtifact, listArtifacts } from './read-artifacts.ts'
import { recordArtifacts } from './record-artifacts.ts'

type Answered = <T>(asked: Promise<T>) => Promise<T>

export function createArtifacts({ work, reads }: { work: pg.Pool; reads: pg.Pool }, answered: Answered): Artifacts {
  return {
    record: (fence, artifacts) => recordArtifacts(work, fence, artifacts),
    list: (runId, page) => answered(listArtifacts(reads, runId, page)),
    find: (runId, attempt, name) => answered(findArtifact(reads, runId, attempt, name)),
  }
}
