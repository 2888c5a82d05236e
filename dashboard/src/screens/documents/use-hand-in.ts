/** How files are handed in: what processes them, as the address chooses, and a batch for each drop. */

import type { ModelInfo } from '@holdfast/client'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { allModels } from '../../parts/directory-queries.ts'
import { useAddress } from '../../parts/use-address.ts'
import { textIn } from '../../search.ts'
import { useSession } from '../../session.tsx'
import { say } from '../../shell/notices.tsx'
import { chosenReader, readersOf } from './file-models.ts'
import { type Dropped, groupDrop } from './group-drop.ts'
import { beginSending } from './sendings.ts'
import type { Unfinished } from './unfinished.ts'

export type HandingIn = {
  /** Undefined until they are known. */
  readers: ModelInfo[] | undefined
  /** Null: files are only stored. */
  reader: ModelInfo | null
  error: Error | null
  handIn(dropped: readonly Dropped[], title?: string): void
  /** Goes on with what a closed page had not sent. */
  goOn(dropped: readonly Dropped[], batchId: string, left: Unfinished): void
}

export function useHandIn(): HandingIn {
  const { owner } = useSession()
  const { search } = useAddress()
  const navigate = useNavigate()
  const { data: models, error } = useQuery(allModels)
  const readers = models && readersOf(models)
  const reader = chosenReader(readers ?? [], textIn(search, 'model'))

  const group = (dropped: readonly Dropped[]) => {
    const drop = groupDrop(dropped, new Date())
    if (drop.files.length === 0)
      say(drop.passedOver > 0 ? 'There were only hidden files in it.' : 'There was no file in it.')
    return drop.files.length === 0 ? null : drop
  }
  return {
    readers,
    reader,
    error,
    handIn(dropped, title = '') {
      const drop = group(dropped)
      if (!drop) return
      const batch = beginSending({ drop, title: title.trim() || drop.title, model: reader?.name ?? null, owner })
      void navigate({ to: '/documents', search: { batch, model: textIn(search, 'model') } })
    },
    goOn(dropped, batchId, { title, model }) {
      const drop = group(dropped)
      if (drop) beginSending({ drop, title, model: model || null, owner, batchId })
    },
  }
}
