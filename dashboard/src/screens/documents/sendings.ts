/**
 * What is being sent from this page, by batch. It goes on while other screens are looked at, and leaving the page asks first.
 */

import { newUuid } from '@holdfast/client'
import { useSyncExternalStore } from 'react'
import { feed } from '../../live/feed.ts'
import { openDoor } from './door.ts'
import type { Drop } from './group-drop.ts'
import { Sender, type Sending } from './sender.ts'
import { shelf } from './shelf.ts'
import { unfinishedIn } from './unfinished.ts'

const unfinished = unfinishedIn(shelf)
const senders = new Map<string, Sender>()
const watchers = new Set<() => void>()

export type NewSending = {
  drop: Drop
  title: string
  model: string | null
  owner: string | null
  /** Goes on with a batch that was begun before. */
  batchId?: string | undefined
}

/** Begins, and answers the id of the batch. */
export function beginSending({ drop, title, model, owner, batchId: begun }: NewSending): string {
  const batchId = begun ?? newUuid()
  const door = openDoor({ batchId, title, model, owner })
  const sender = new Sender({ batchId, files: drop.files, door, claims: begun !== undefined })
  senders.get(batchId)?.pause()
  senders.set(batchId, sender)
  unfinished.set(batchId, { title, model: model ?? '', files: drop.files.length, atMs: Date.now() })
  const release = holdLock(batchId)
  sender.watch(() => {
    if (sender.read().phase.is !== 'finished') return
    unfinished.delete(batchId)
    release()
  })
  sender.start()
  for (const watcher of watchers) watcher()
  return batchId
}

/** What is not there yet is not sent any more. */
export function giveUp(batchId: string): void {
  senders.get(batchId)?.pause()
  senders.delete(batchId)
  unfinished.delete(batchId)
  for (const watcher of watchers) watcher()
}

export function useSender(batchId: string): Sender | null {
  return useSyncExternalStore(watchAll, () => senders.get(batchId) ?? null)
}

export function useSending(sender: Sender | null): Sending | null {
  return useSyncExternalStore(sender?.watch ?? watchNothing, sender?.read ?? readNothing)
}

/** Of a page that was closed before all was sent; null when another tab is still sending it. */
export async function leftUnfinished(batchId: string) {
  const left = senders.has(batchId) ? null : unfinished.get(batchId)
  if (!left) return null
  const { held = [] } = (await navigator.locks?.query()) ?? {}
  return held.some(({ name }) => name === lockOf(batchId)) ? null : left
}

const lockOf = (batchId: string) => `holdfast:documents:${batchId}`

/** Tells other tabs that this one is sending it, until it is closed. */
function holdLock(batchId: string): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  navigator.locks?.request(lockOf(batchId), () => promise).catch(() => {})
  return resolve
}

function watchAll(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

const watchNothing = () => () => {}
const readNothing = () => null

/** The service is back: those that wait for it need not wait longer. */
function hurry(): void {
  for (const sender of senders.values()) if (sender.read().phase.is === 'away') sender.start()
}

addEventListener('online', hurry)
feed.watch(() => feed.connection === 'live' && hurry())
addEventListener('beforeunload', (event) => {
  if ([...senders.values()].some((sender) => sender.isUnderWay)) event.preventDefault()
})
