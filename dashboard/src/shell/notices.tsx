/** Short messages about what was just done, told politely to screen readers. They go away by themselves; errors stay until closed. */

import { Notification, Stack } from '@mantine/core'
import { type ReactNode, useEffect, useSyncExternalStore } from 'react'
import { errorLine } from '../parts/error-words.ts'

const SHOWN_MS = 6_000
const SHOWN_MAX = 4

type Notice = { id: number; tone: 'good' | 'bad'; text: ReactNode }

let notices: Notice[] = []
let lastId = 0
const watchers = new Set<() => void>()

function set(next: Notice[]): void {
  notices = next
  for (const watcher of watchers) watcher()
}

/** Something was done. */
export function say(text: ReactNode): void {
  lastId += 1
  set([...notices, { id: lastId, tone: 'good' as const, text }].slice(-SHOWN_MAX))
}

/** Something that was asked for did not work, and there is no better place to say so. */
export function sayError(error: unknown): void {
  lastId += 1
  set([...notices, { id: lastId, tone: 'bad' as const, text: errorLine(error) }].slice(-SHOWN_MAX))
}

export function Notices() {
  const shown = useSyncExternalStore(watch, () => notices)
  return (
    <Stack gap="xs" pos="fixed" right={16} bottom={16} maw="min(420px, calc(100vw - 32px))" style={{ zIndex: 400 }}>
      <div aria-live="polite" role="status" style={{ display: 'contents' }}>
        {shown.map((notice) => (
          <Shown key={notice.id} notice={notice} />
        ))}
      </div>
    </Stack>
  )
}

function Shown({ notice: { id, tone, text } }: { notice: Notice }) {
  const close = () => set(notices.filter((notice) => notice.id !== id))
  useEffect(() => {
    if (tone === 'bad') return
    const timer = setTimeout(close, SHOWN_MS)
    return () => clearTimeout(timer)
  })
  return (
    <Notification
      color={tone === 'bad' ? 'red' : 'teal'}
      withBorder
      onClose={close}
      closeButtonProps={{ 'aria-label': 'Close this message' }}
    >
      {text}
    </Notification>
  )
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}
