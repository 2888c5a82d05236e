/** What is done with many files of a batch, some at a time. */

import { client } from '../../client.ts'
import { saveFile } from '../../parts/save-file.ts'
import type { RunEnd } from './advice.ts'
import { csvOf } from './batch-table.ts'
import type { ShownFile } from './shown-files.ts'

const AT_ONCE = 4

/** How many were retried. What could not be is an error still, and the first reason is thrown when none could. */
export async function retryAll(files: readonly ShownFile[]): Promise<number> {
  const runIds = files.flatMap(({ word, upload }) => (word === 'ERROR' && upload?.run_id ? [upload.run_id] : []))
  const faults: unknown[] = []
  let retried = 0
  await some(runIds, async (runId) => {
    try {
      await client.retry(runId)
      retried += 1
    } catch (fault) {
      faults.push(fault)
    }
  })
  if (retried === 0 && faults.length > 0) throw faults[0]
  return retried
}

export async function saveTable(title: string, files: readonly ShownFile[]): Promise<void> {
  const ends = new Map<string, RunEnd>()
  const failed = files.flatMap(({ word, upload }) => (word === 'ERROR' && upload?.run_id ? [upload.run_id] : []))
  await some(failed, async (runId) => void ends.set(runId, await client.get(runId)))
  saveFile(`${safe(title)}.csv`, [csvOf(files, ends)], 'text/csv')
}

export async function saveResults(title: string, files: readonly ShownFile[]): Promise<void> {
  const results = new Map<string, unknown>()
  const done = files.flatMap(({ word, upload }) => (word === 'DONE' && upload?.run_id ? [upload.run_id] : []))
  await some(done, async (runId) => void results.set(runId, await client.result(runId)))
  const all = files.map(({ name, size, word, upload }) => ({
    ...{ name, size, state: word, file_id: upload?.file_id ?? null, run_id: upload?.run_id ?? null },
    result: (upload?.run_id && results.get(upload.run_id)) ?? null,
  }))
  saveFile(`${safe(title)}.json`, [JSON.stringify(all, null, 2)], 'application/json')
}

async function some<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values()
  const lane = async () => {
    for (const item of left) await act(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
}

function safe(title: string): string {
  return title.replaceAll(/[^\p{L}\p{N} ._-]+/gu, ' ').trim() || 'batch'
}
