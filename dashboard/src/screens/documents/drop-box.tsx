/** Where files go in: dropped on it, or chosen by one of its two buttons. */

import { Button, Group, Text } from '@mantine/core'
import { type ReactNode, useId, useRef } from 'react'
import { UploadIcon } from '../../parts/icons.tsx'
import classes from './documents.module.css'
import { filesChosen } from './dropped-files.ts'
import type { Dropped } from './group-drop.ts'

export function DropBox({ title, isOver, isReady = true, onFiles, children }: DropBoxProps) {
  const titleId = useId()
  return (
    <section className={classes.drop} data-over={isOver || undefined} aria-labelledby={titleId}>
      <span className={classes.dropSign} aria-hidden>
        <UploadIcon size={28} />
      </span>
      <Text id={titleId} fw={600}>
        {isOver ? 'Let go to hand them in' : title}
      </Text>
      {children}
      <Group gap="xs" justify="center" mt={6}>
        <ChooseButton label="Choose files" isReady={isReady} onFiles={onFiles} />
        <ChooseButton label="Choose a folder" isReady={isReady} onFiles={onFiles} isFolder />
      </Group>
    </section>
  )
}

type DropBoxProps = {
  title: string
  isOver: boolean
  isReady?: boolean
  onFiles: (dropped: Dropped[]) => void
  children?: ReactNode
}

function ChooseButton({ label, isReady, onFiles, isFolder = false }: ChooseButtonProps) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        disabled={!isReady}
        data-choose={isFolder ? 'folder' : 'files'}
        {...(isFolder && { webkitdirectory: '' })}
        onChange={({ currentTarget }) => {
          onFiles(filesChosen(currentTarget.files))
          // The same files can be chosen again.
          currentTarget.value = ''
        }}
      />
      <Button variant={isFolder ? 'default' : 'filled'} disabled={!isReady} onClick={() => input.current?.click()}>
        {label}
      </Button>
    </>
  )
}

type ChooseButtonProps = {
  label: string
  isReady: boolean
  onFiles: (dropped: Dropped[]) => void
  isFolder?: boolean
}
