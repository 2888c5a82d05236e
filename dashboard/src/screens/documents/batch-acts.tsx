/** What can be done with a whole batch: retry what failed, and take its results away. */

import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { formatNumber } from '../../parts/format.ts'
import { ChevronDownIcon } from '../../parts/icons.tsx'
import { Menu, MenuItem } from '../../parts/menu.tsx'
import { useMay } from '../../session.tsx'
import { say, sayError } from '../../shell/notices.tsx'
import { retryAll, saveResults, saveTable } from './batch-work.ts'
import type { Counts, ShownFile } from './shown-files.ts'

type BatchActsProps = { title: string; files: ShownFile[]; counts: Counts }

export function BatchActs({ title, files, counts }: BatchActsProps) {
  const mayRetry = useMay('submitter')
  const save = useMutation({ mutationFn: (act: () => Promise<unknown>) => act(), onError: sayError })
  return (
    <>
      {mayRetry && counts.ERROR > 0 && <RetryAll files={files} count={counts.ERROR} />}
      {counts.all > 0 && (
        <Menu
          trigger={
            <>
              {save.isPending ? 'Preparing…' : 'Download'} <ChevronDownIcon size={12} />
            </>
          }
        >
          <MenuItem onClick={() => save.mutate(() => saveTable(title, files))}>The list as a table (CSV)</MenuItem>
          <MenuItem isDisabled={counts.DONE === 0} onClick={() => save.mutate(() => saveResults(title, files))}>
            All results (JSON)
          </MenuItem>
        </Menu>
      )}
    </>
  )
}

function RetryAll({ files, count }: { files: ShownFile[]; count: number }) {
  const [isAsking, setAsking] = useState(false)
  const queries = useQueryClient()
  const all = count === 1 ? 'the file' : `all ${formatNumber(count)} files`
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setAsking(true)}>
        Retry {count === 1 ? 'the error' : `all ${formatNumber(count)} errors`}
      </Button>
      <ConfirmDialog
        isOpen={isAsking}
        isDestructive={false}
        title={`Retry ${all}?`}
        act={`Retry ${all}`}
        onClose={() => setAsking(false)}
        onAct={async () => {
          const retried = await retryAll(files)
          await queries.invalidateQueries({ queryKey: ['uploads'] })
          say(`${formatNumber(retried)} ${retried === 1 ? 'file is' : 'files are'} processed again.`)
        }}
      >
        Each document that ended in an error is processed once more, from its beginning. One that is damaged, empty or
        protected by a password will fail again in the same way.
      </ConfirmDialog>
    </>
  )
}
