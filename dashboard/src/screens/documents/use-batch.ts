/** A batch with all its files: what the service has, kept fresh, and what is on its way from this page. */

import { type Batch, HoldfastError, type Upload } from '@holdfast/client'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { client } from '../../client.ts'
import { useLive } from '../../live/use-live.ts'
import type { Sender, Sending } from './sender.ts'
import { useSender, useSending } from './sendings.ts'
import { type Counts, countsOf, endedAmong, type ShownFile, shownFiles } from './shown-files.ts'

const SENDING_MS = 1_000
const WAITING_MS = 5_000

export type BatchFiles = {
  batch: Batch | undefined
  error: Error | null
  isLoading: boolean
  sender: Sender | null
  sending: Sending | null
  files: ShownFile[]
  counts: Counts
  ended: number
  refetch(): void
}

const NONE: never[] = []

export function useBatch(batchId: string): BatchFiles {
  const sender = useSender(batchId)
  const sending = useSending(sender)
  const isSending = sending !== null && sending.phase.is !== 'finished'
  const batch = useQuery({
    queryKey: ['batch', batchId],
    queryFn: ({ signal }) => client.batches.get(batchId, { signal }),
    refetchInterval: ({ state }) => (isSending || state.data?.finished === false ? WAITING_MS : false),
  })
  const uploads = useQuery({
    queryKey: ['uploads', batchId],
    queryFn: ({ signal }) => readUploads(batchId, signal),
    // Thousands of them are compared slower than they are drawn.
    structuralSharing: false,
    refetchInterval: ({ state: { data } }) => {
      const isOver = batch.data?.finished === true && !isSending
      return isOver ? false : Math.max(isSending ? SENDING_MS : WAITING_MS, 4 * (data?.tookMs ?? 0))
    },
  })
  const { rows = NONE } = sending ?? {}
  const listed = uploads.data?.uploads ?? NONE
  const files = useMemo(() => shownFiles(rows, listed), [rows, listed])
  const runIds = useMemo(() => new Set(listed.map(({ run_id: runId }) => runId)), [listed])
  useLive(
    [
      ['uploads', batchId],
      ['batch', batchId],
    ],
    {
      everyMs: Math.max(700, 4 * (uploads.data?.tookMs ?? 0)),
      // A retry is a run that nobody here has heard of yet.
      concerns: ({ events }) => events.some(({ run_id: runId, type }) => runIds.has(runId) || type === 'created'),
    },
  )
  const error = uploads.error ?? batch.error
  const isComing =
    sender !== null && (!(error instanceof HoldfastError) || error.status === 404 || error.status === null)
  return {
    batch: batch.data,
    error: isComing || uploads.data ? null : error,
    isLoading: !uploads.data && !error && sender === null,
    sender,
    sending,
    files,
    counts: useMemo(() => countsOf(files), [files]),
    ended: useMemo(() => endedAmong(files), [files]),
    refetch: () => {
      void batch.refetch()
      void uploads.refetch()
    },
  }
}

async function readUploads(batchId: string, signal: AbortSignal): Promise<{ uploads: Upload[]; tookMs: number }> {
  const sinceMs = performance.now()
  const uploads: Upload[] = []
  for await (const upload of client.files.list({ batch: batchId }, { signal })) uploads.push(upload)
  return { uploads, tookMs: performance.now() - sinceMs }
}
