/** One file: its name, where it is, what that means, and what can be done. */

import { Button, Progress, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { client } from '../../client.ts'
import { formatBytes } from '../../parts/format.ts'
import { ToneBadge } from '../../parts/tone-badge.tsx'
import { useMay } from '../../session.tsx'
import { say, sayError } from '../../shell/notices.tsx'
import classes from './documents.module.css'
import { ErrorSentence } from './error-sentence.tsx'
import { FileDetails } from './file-details.tsx'
import { LOOKS, sentenceFor } from './file-words.ts'
import { FirstOne } from './first-one.tsx'
import type { Sender } from './sender.ts'
import type { ShownFile } from './shown-files.ts'

type FileRowProps = { file: ShownFile; sender: Sender | null; isOpen: boolean; onToggle: () => void }

export function FileRow({ file, sender, isOpen, onToggle }: FileRowProps) {
  const { name, size, word, upload, row } = file
  return (
    <>
      <div className={classes.row}>
        <span className={classes.badge}>
          <ToneBadge look={LOOKS[word]} />
        </span>
        <div className={classes.what}>
          <div className={classes.nameLine}>
            <span className={classes.name} title={row && row.path !== name ? row.path : name}>
              {name}
            </span>
            <Text span size="xs" c="dimmed" className={classes.size}>
              {formatBytes(size)}
            </Text>
          </div>
          <Text size="xs" c="dimmed" component="div" className={classes.sentence}>
            <Sentence file={file} />
          </Text>
          {row?.state.at === 'sending' && row.state.sent > 0 && (
            <Progress
              size={3}
              mt={3}
              value={(100 * row.state.sent) / Math.max(1, size)}
              aria-label={`Sent of ${name}`}
            />
          )}
        </div>
        <div className={classes.acts}>
          {word === 'NOT_SENT' && row && (
            <Button size="compact-xs" variant="default" onClick={() => sender?.retry(row.id)}>
              Send again
            </Button>
          )}
          {word === 'ERROR' && upload?.run_id && <RetryButton name={name} runId={upload.run_id} />}
          {upload && (
            <Button
              size="compact-xs"
              variant={word === 'DONE' ? 'light' : 'subtle'}
              color={word === 'DONE' ? undefined : 'gray'}
              aria-expanded={isOpen}
              aria-label={`${word === 'DONE' ? 'Result' : 'Details'} of ${name}`}
              onClick={onToggle}
            >
              {word === 'DONE' ? 'Result' : 'Details'}
            </Button>
          )}
        </div>
      </div>
      {isOpen && upload && <FileDetails upload={upload} />}
    </>
  )
}

function Sentence({ file }: { file: ShownFile }) {
  const { word, upload } = file
  if (word === 'ERROR' && upload?.run_id) return <ErrorSentence runId={upload.run_id} />
  if (word === 'DUPLICATE' && upload) return <FirstOne upload={upload} />
  return sentenceFor(file)
}

function RetryButton({ name, runId }: { name: string; runId: string }) {
  const mayRetry = useMay('submitter')
  const queries = useQueryClient()
  const { mutate, isPending } = useMutation({
    mutationFn: () => client.retry(runId),
    onError: sayError,
    onSuccess: async () => {
      say(`${name} is processed again.`)
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['uploads'] }),
        queries.invalidateQueries({ queryKey: ['batch'] }),
      ])
    },
  })
  if (!mayRetry) return null
  return (
    <Button
      size="compact-xs"
      variant="default"
      loading={isPending}
      aria-label={`Retry ${name}`}
      onClick={() => mutate()}
    >
      Retry
    </Button>
  )
}
