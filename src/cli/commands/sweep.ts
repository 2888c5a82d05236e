/**
 * `holdfast sweep`: removes stored bytes that nothing refers to, at once and to the end, as the service does bit by bit each day. What it
 * prints is what it removed.
 */

import type { Command } from 'commander'
import { checkBlobPlace, openBlobStore } from '../../compose-blob.ts'
import { readEnvironment } from '../../config/read-environment.ts'
import { type Swept, sweepBlobs } from '../../worker/sweep-blobs.ts'
import { withStore } from '../database.ts'
import { parseDuration } from '../duration.ts'

type Options = { olderThan: string; dryRun?: boolean; json?: boolean }

export function addSweep(program: Command): void {
  program
    .command('sweep')
    .description('remove stored bytes that nothing refers to: of crashed processes, given-up uploads and deleted files')
    .option(
      '--older-than <time>',
      'only what was stored so long ago; less than 24h only while nothing else runs',
      '24h',
    )
    .option('--dry-run', 'remove nothing; print what nothing refers to')
    .option('--json', 'print one JSON object instead of lines')
    .action(sweep)
}

async function sweep({ olderThan, dryRun: isDryRun = false, json: isJson = false }: Options): Promise<void> {
  const olderThanMs = parseDuration(olderThan) * 1_000
  const config = readEnvironment()
  await withStore(async (store) => {
    const blob = await openBlobStore(config)
    // Against the rows of another database nearly everything here would look unnamed.
    await checkBlobPlace(store, blob, config)
    const removed: Swept[] = []
    for await (const swept of sweepBlobs({ blob, store }, { olderThanMs, isDryRun })) {
      removed.push(...swept)
      if (!isJson) print(swept.map(lineOf))
    }
    const totals = totalsOf(removed)
    if (isJson) print([JSON.stringify({ dry_run: isDryRun, ...totals, removed: removed.map(asJson) })])
    else print([`${isDryRun ? 'Would remove' : 'Removed'} ${totals.count} (${totals.bytes} bytes known).`])
  })
}

function totalsOf(removed: Swept[]): { count: number; bytes: number } {
  return {
    count: removed.reduce((sum, { count }) => sum + count, 0),
    bytes: removed.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
  }
}

function asJson({ reason, name, bytes, count }: Swept) {
  return name === null ? { reason, count } : { reason, name, bytes }
}

function lineOf({ reason, name, bytes, count }: Swept): string {
  return `${reason}  ${name ?? `${count} puts`}${bytes === null ? '' : `  ${bytes} bytes`}`
}

function print(lines: string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''))
}
