/** Nothing of a batch is waiting or running any more: what became of it. */

import { batchName, number } from './documents.ts'
import { type Letter, paragraph } from './letter.ts'
import type { Places } from './places.ts'

export type BatchFinished = { batchId: string; batchTitle: string | null; counts: Record<string, number> }

const ROWS = [
  { key: 'done', name: 'Done' },
  { key: 'failed', name: 'Failed' },
  { key: 'duplicate', name: 'Uploaded before' },
  { key: 'cancelled', name: 'Cancelled' },
] as const

export function batchFinishedLetter({ batchId, batchTitle, counts }: BatchFinished, places: Places): Letter {
  const of = (key: string) => counts[key] ?? 0
  const named = batchName(batchTitle, 'your upload')
  const failed = of('failed')
  const rows = ROWS.filter(({ key }) => key === 'done' || of(key) > 0)
  return {
    subject: `${named.charAt(0).toUpperCase()}${named.slice(1)} is finished: ${rows.map(({ key, name }) => `${number(of(key))} ${name.toLowerCase()}`).join(', ')}`,
    blocks: [
      paragraph(`Everything in ${named} has been dealt with.`),
      { kind: 'facts', rows: rows.map(({ key, name }) => ({ name, value: number(of(key)) })) },
      ...(failed > 0 ? [paragraph('Open the upload to see why documents failed and to retry them.')] : []),
      { kind: 'link', label: 'Open the upload', url: places.batch(batchId) },
    ],
  }
}
