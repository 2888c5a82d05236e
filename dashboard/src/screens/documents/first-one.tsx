/** Of a duplicate: the first one, where it is and what became of it. */

import type { Upload } from '@holdfast/client'
import { useQuery } from '@tanstack/react-query'
import { client } from '../../client.ts'
import { Moment } from '../../parts/moment.tsx'
import { Way } from '../../parts/way.tsx'
import { useSession } from '../../session.tsx'
import classes from './documents.module.css'
import { firstUpload } from './first-upload.ts'

const READ_MAX = 400

export function FirstOne({ upload }: { upload: Upload }) {
  const { owner } = useSession()
  const { file_id: file } = upload
  const { data: others } = useQuery({
    queryKey: ['uploads', 'of', file, owner],
    queryFn: ({ signal }) => readUploads(file, owner, signal),
  })
  const first = others && firstUpload(upload, others)
  if (!first) return 'You handed in the same document before; it is not processed twice.'
  const address = placeOf(first)
  const words = first.state === 'UPLOADED' ? '' : `, ${first.state}`
  return (
    <>
      The same as{' '}
      {address ? (
        <Way {...address} className={classes.inText}>
          {first.name}
        </Way>
      ) : (
        first.name
      )}
      , which you handed in <Moment at={first.created_at} />
      {words}. It is not processed twice.
    </>
  )
}

function placeOf({ batch_id: batch, upload_id: file, run_id: runId }: Upload) {
  if (batch) return { to: '/documents', search: { batch, file } }
  return runId ? { to: `/runs/${runId}` } : null
}

async function readUploads(file: string, owner: string | null, signal: AbortSignal): Promise<Upload[]> {
  const found: Upload[] = []
  for await (const upload of client.files.list({ file, ...(owner && { owner }) }, { signal })) {
    found.push(upload)
    if (found.length === READ_MAX) break
  }
  return found
}
