/** An upload as the store takes it: valid, unlike every other one, and changed field by field by the test. */

import { createHash, randomUUID } from 'node:crypto'
import { createRunIds } from '../../src/api/run-id.ts'
import type { AcceptedUpload, NewUpload } from '../../src/store/ports/files.ts'
import type { NewRun } from '../../src/store/store.ts'
import { newRun } from './new-run.ts'

const nextId = createRunIds()
let made = 0

export type UploadChanges = Partial<Omit<NewUpload, 'run'>> & {
  /** What the file is: equal texts are equal files. Unlike every other one when not given. */
  text?: string
  /** A run of a model of this name that has the file as its only parameter. */
  model?: string
  run?: NewRun | null
}

export function newUpload({ text, model, ...changes }: UploadChanges = {}): NewUpload {
  made += 1
  const content = text ?? `file ${made} of ${process.pid}`
  const id = changes.id ?? nextId()
  const owner = changes.owner ?? 'default'
  const sha256 = createHash('sha256').update(content).digest('hex')
  const file = {
    id: sha256,
    bytes: Buffer.byteLength(content),
    type: 'text/plain',
    ref: `artifacts/${randomUUID()}.file`,
  }
  const name = changes.name ?? 'a.txt'
  const files = [{ parameter: '/document', fileId: sha256, name }]
  const batchId = changes.batchId ?? null
  const run = model === undefined ? null : newRun({ model, owner, parameters: { document: sha256 }, files, batchId })
  return { id, owner, key: null, file, name, batchId, run, ...changes }
}

export function acceptedUpload(answer: AcceptedUpload | Error): AcceptedUpload {
  if (answer instanceof Error) throw answer
  return answer
}
