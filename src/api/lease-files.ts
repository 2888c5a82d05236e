/** The files among the parameters of leased runs, as their workers are told of them. Models without file parameters cost no question. */

import type { LeaseFileObject } from '../contract/lease.ts'
import { takesFiles } from '../run/file-parameters.ts'
import type { Lease, Store } from '../store/store.ts'
import type { Known } from './known.ts'
import { fileObjects } from './present-run.ts'

export type LeaseFilesDeps = { store: Pick<Store, 'files'>; known: Known }

export async function leaseFiles(
  { store, known }: LeaseFilesDeps,
  { runId, model, modelVersion }: Lease,
): Promise<LeaseFileObject[]> {
  const registered = await known.model(model, modelVersion)
  if (!registered || !takesFiles(registered.definition)) return []
  const files = await store.files.ofRun(runId)
  return fileObjects(files).map((file) => ({ ...file, href: `/leases/${runId}/files/${file.file_id}` }))
}
