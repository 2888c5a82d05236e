/** The way in: a name for the batch, what is to process the files, and the box they are dropped on. */

import { NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { useAddress } from '../../parts/use-address.ts'
import { useMay } from '../../session.tsx'
import classes from './documents.module.css'
import { DropBox } from './drop-box.tsx'
import { EarlierBatches } from './earlier-batches.tsx'
import { ONLY_STORE } from './file-models.ts'
import { useDrop } from './use-drop.ts'
import { type HandingIn, useHandIn } from './use-hand-in.ts'

export function HandIn() {
  const mayHandIn = useMay('submitter')
  const handing = useHandIn()
  const { readers, error, handIn } = handing
  const [title, setTitle] = useState('')
  const isReady = mayHandIn && readers !== undefined
  const isOver = useDrop(isReady ? (dropped) => handIn(dropped, title) : null)
  return (
    <Stack gap="lg">
      {error && <ErrorNotice error={error} />}
      {mayHandIn ? (
        <div className={classes.handIn}>
          <DropBox
            title="Drop files or a folder here"
            isOver={isOver}
            isReady={isReady}
            onFiles={(dropped) => handIn(dropped, title)}
          >
            <Text size="sm" c="dimmed" maw={420}>
              What you handed in before is recognised and not sent again. You can leave this page once everything is
              sent.
            </Text>
          </DropBox>
          <Stack gap="sm" className={classes.choices}>
            <ReaderChoice handing={handing} />
            <TextInput
              label="Name of the batch"
              description="To find it again. Without one it is called after the files."
              value={title}
              maxLength={200}
              onChange={({ currentTarget }) => setTitle(currentTarget.value)}
            />
          </Stack>
        </div>
      ) : (
        <Text size="sm" c="dimmed">
          You may look at what was handed in, but not hand in files yourself.
        </Text>
      )}
      <EarlierBatches />
    </Stack>
  )
}

/** Nothing to choose where there is only one. */
function ReaderChoice({ handing: { readers, reader } }: { handing: HandingIn }) {
  const { search, change } = useAddress()
  if (!readers) return null
  if (readers.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        Nothing here reads files at present: they are stored, and that is all.
      </Text>
    )
  }
  const isAsked = search.model !== undefined
  if (readers.length === 1 && !isAsked) {
    return (
      <Text size="sm">
        {sentenceOf(reader?.description ?? null) || `Each file is handed to ${reader?.name}.`}
        {reader?.offered === false && ' Nobody is working on it at the moment: files wait until somebody does.'}
      </Text>
    )
  }
  const described = sentenceOf(reader?.description ?? null)
  const waits =
    reader?.offered === false ? ' Nobody is working on it at the moment: files wait until somebody does.' : ''
  return (
    <NativeSelect
      label="What is to be done with the files"
      description={reader ? `${described}${waits}` || undefined : 'They are stored, and nothing reads them.'}
      value={reader?.name ?? ONLY_STORE}
      data={[
        ...readers.map(({ name }) => ({ value: name, label: name })),
        { value: ONLY_STORE, label: 'Only store them' },
      ]}
      onChange={({ currentTarget }) => change({ model: currentTarget.value })}
    />
  )
}

function sentenceOf(description: string | null): string {
  return description?.trim().replace(/\.?$/, '.') ?? ''
}
