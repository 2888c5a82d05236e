/** One batch: how far it is, what to do next, and its files. */

import { Button, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { formatMoment } from '../../parts/format.ts'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { useAddress } from '../../parts/use-address.ts'
import { Way } from '../../parts/way.tsx'
import { textIn } from '../../search.ts'
import { useMay, useSession } from '../../session.tsx'
import { Announcer } from './announcer.tsx'
import { BatchActs } from './batch-acts.tsx'
import { BatchProgressPart } from './batch-progress.tsx'
import classes from './documents.module.css'
import { DropBox } from './drop-box.tsx'
import { FileChips } from './file-chips.tsx'
import { FileList } from './file-list.tsx'
import { SendingNotice } from './sending-notice.tsx'
import { leftUnfinished } from './sendings.ts'
import { countsLine, filtered } from './shown-files.ts'
import { useBatch } from './use-batch.ts'
import { useDrop } from './use-drop.ts'
import { useHandIn } from './use-hand-in.ts'

export function BatchView({ batchId }: { batchId: string }) {
  const whole = useBatch(batchId)
  const { batch, error, isLoading, sender, sending, files, counts, ended, refetch } = whole
  const { search } = useAddress()
  const shown = filtered(files, textIn(search, 'state'), textIn(search, 'q') ?? '')
  const title = batch?.title ?? (batch ? `Batch of ${formatMoment(batch.created_at)}` : 'Batch')
  return (
    <>
      <PageTitle title={title} note={<Note batch={batch} />}>
        <HandInMore />
        <BatchActs title={title} files={files} counts={counts} />
      </PageTitle>
      {error && <ErrorNotice error={error} onRetry={refetch} />}
      {isLoading && <Loading label="Loading files" />}
      {!error && !isLoading && (
        <Stack gap="md">
          <Announcer text={`${countsLine(counts)}.`} />
          {sender && sending && <SendingNotice sender={sender} sending={sending} />}
          <LeftUnfinished batchId={batchId} arrived={files.length} />
          {files.length > 0 && <BatchProgressPart sender={sender} sending={sending} counts={counts} ended={ended} />}
          {files.length > 0 && <FileChips counts={counts} />}
          {shown.length > 0 && <FileList files={shown} sender={sender} />}
          {files.length > 0 && shown.length === 0 && (
            <EmptyState title="No such file">
              No file of this batch is like that. Choose “All” to see every file.
            </EmptyState>
          )}
          {files.length === 0 && !sender && (
            <EmptyState title="Nothing has arrived yet">
              Files that are handed in with this batch appear here.
            </EmptyState>
          )}
        </Stack>
      )}
    </>
  )
}

function Note({ batch }: { batch: ReturnType<typeof useBatch>['batch'] }) {
  const { owner } = useSession()
  return (
    <>
      <Way to="/documents" className={classes.inText}>
        All documents
      </Way>
      {batch && (
        <>
          {' · handed in '}
          <Moment at={batch.created_at} />
          {batch.owner !== owner && ` by ${batch.owner}`}
        </>
      )}
    </>
  )
}

/** Dropped on this page, files are a batch of their own. */
function HandInMore() {
  const mayHandIn = useMay('submitter')
  const { readers, handIn } = useHandIn()
  const isOver = useDrop(mayHandIn && readers ? handIn : null)
  if (!mayHandIn) return null
  return (
    <Button component={Link} to="/documents" size="xs" variant={isOver ? 'filled' : 'default'}>
      {isOver ? 'Let go to hand them in' : 'Hand in more'}
    </Button>
  )
}

/** The page was closed before all was sent: the same files, chosen again, go on. */
function LeftUnfinished({ batchId, arrived }: { batchId: string; arrived: number }) {
  const { goOn } = useHandIn()
  const { data: left, refetch } = useQuery({
    queryKey: ['unfinished', batchId],
    queryFn: () => leftUnfinished(batchId),
    staleTime: 0,
  })
  if (!left || arrived >= left.files) return null
  const missing = left.files - arrived
  return (
    <DropBox
      title={missing === 1 ? 'One file was not sent yet' : `${missing} of ${left.files} files were not sent yet`}
      isOver={false}
      onFiles={(dropped) => {
        goOn(dropped, batchId, left)
        void refetch()
      }}
    >
      <Text size="sm" c="dimmed" maw={460}>
        This page was closed before everything was sent. Choose the same files or the same folder again: what has
        arrived is recognised, and the rest goes on.
      </Text>
    </DropBox>
  )
}
