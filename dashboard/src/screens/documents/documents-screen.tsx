/** Documents: hand in files, and see what becomes of each. `?batch=` is one batch; without it, the way in and all earlier ones. */

import { PageTitle } from '../../parts/page-title.tsx'
import { useAddress } from '../../parts/use-address.ts'
import { textIn } from '../../search.ts'
import { BatchView } from './batch-view.tsx'
import { HandIn } from './hand-in.tsx'

export default function DocumentsScreen() {
  const batchId = textIn(useAddress().search, 'batch')
  if (batchId) return <BatchView key={batchId} batchId={batchId} />
  return (
    <>
      <PageTitle title="Documents" />
      <HandIn />
    </>
  )
}
