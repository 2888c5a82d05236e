/** The verbs of files and their uploads, bound to their pools. */

import type pg from 'pg'
import { createAccept } from './accept-upload.ts'
import type { Admission } from './admit.ts'
import { collectFiles } from './collect-files.ts'
import { filesOfRun, findFiles } from './find-files.ts'
import type { Lanes } from './lanes.ts'
import { listUploads } from './list-uploads.ts'
import type { Files } from './ports/files.ts'
import type { RuleCopy } from './quota-rules.ts'
import { releaseFile } from './release-file.ts'

type Answered = <T>(asked: Promise<T>) => Promise<T>

const REPLACE_REF = 'UPDATE files SET ref = $3 WHERE id = $1 AND ref = $2'

export function createFiles(
  {
    reads,
    singles,
    ...making
  }: { reads: pg.Pool; singles: pg.Pool; lanes: Lanes; admission: Admission; rules: RuleCopy },
  answered: Answered,
): Files {
  const accept = createAccept({ pool: singles, ...making })
  return {
    accept: (upload) => answered(accept(upload)),
    find: async (id, owner) => (await answered(findFiles(reads, [id], owner))).get(id) ?? null,
    findMany: (ids, owner) => answered(findFiles(reads, ids, owner)),
    ofRun: (runId) => answered(filesOfRun(reads, runId)),
    uploads: (filter) => answered(listUploads(reads, filter)),
    release: (id, owner) => answered(releaseFile(singles, id, owner)),
    replaceRef: async (id, from, to) => (await answered(reads.query(REPLACE_REF, [id, from, to]))).rowCount === 1,
    collect: (options) => collectFiles(reads, options),
  }
}
