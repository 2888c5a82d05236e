/**
 * `holdfast upload`: files and whole folders to a running service, through the same client that programs use.
 *
 * Ends with 0 when every file is there (and, with --wait, was processed well or is a duplicate), 1 when nothing could be done, 2 when some
 * files were not uploaded, 3 when some that were waited for ended in ERROR.
 */

import type { Command } from 'commander'
import { fileAt } from '../../../client/node/file-at.ts'
import { Holdfast } from '../../../client/src/holdfast.ts'
import type { UploadItem } from '../../../client/src/upload-many.ts'
import type { BatchProgress } from '../../../client/src/wire-batches.ts'
import { readEnvironment } from '../../config/read-environment.ts'
import { type Output, sizeOf, type UploadLines, uploadLines } from '../upload-lines.ts'
import { createUploadMemory } from '../upload-memory.ts'
import { walkFiles } from '../walk-files.ts'

const URL_DEFAULT = 'http://127.0.0.1:4600'
const NOT_UPLOADED = 2
const NOT_PROCESSED = 3
const CONCURRENCY_MAX = 64

type UploadFlags = {
  model?: string
  parameters?: string
  batch?: string
  title?: string
  concurrency: string
  wait?: boolean
  json?: boolean
  resumable?: boolean
}

export function addUpload(program: Command): void {
  program
    .command('upload <paths...>')
    .description('upload files and folders to the service at HOLDFAST_URL, with the token in HOLDFAST_TOKEN')
    .option('--model <name>', 'the model that is to have each file, such as document_pipeline_v1')
    .option('--parameters <json>', 'the other parameters of its runs, as a JSON object')
    .option('--batch <id>', 'add them to this batch; a new one when not given')
    .option('--title <text>', 'what a new batch is called')
    .option('--concurrency <number>', 'files at once', '4')
    .option('--resumable', 'send small files in pieces too, for connections that break')
    .option('--wait', 'stay until the batch is finished')
    .option('--json', 'print one JSON object for each file, and one for the whole')
    .action(upload)
}

async function upload(paths: string[], flags: UploadFlags): Promise<void> {
  const { client: given } = readEnvironment()
  const url = given.url ?? URL_DEFAULT
  const client = new Holdfast({ url, token: given.token ?? undefined, uploadMemory: createUploadMemory(url) })
  const lines = uploadLines(terminal(), flags.json ? 'json' : 'lines')
  process.exitCode = await uploadAll(client, paths, flags, lines)
}

/** The exit code. */
export async function uploadAll(
  client: Holdfast,
  paths: string[],
  flags: UploadFlags,
  lines: UploadLines,
): Promise<number> {
  const parameters = parametersOf(flags.parameters)
  const concurrency = concurrencyOf(flags.concurrency)
  if (parameters && !flags.model) throw new Error('--parameters are those of a model; say which with --model')
  const found = await someOf(walkFiles(paths), paths)
  const begun: { path: string; bytes: number }[] = []
  const { batchId, stoppedBy } = await client.files.uploadMany(opened(found, begun, lines), {
    model: flags.model,
    parameters,
    concurrency,
    ...(flags.batch !== undefined && { batchId: flags.batch }),
    ...(flags.title !== undefined && { title: flags.title }),
    ...(flags.resumable && { resumable: true }),
    onProgress: ({ name, sent, total }) => lines.progress(name, sent, total),
    onFile: (outcome) => lines.file(begun[outcome.index]!.path, outcome, begun[outcome.index]!.bytes),
  })
  if (stoppedBy) lines.end({ batch_id: batchId, ...lines.tally, stopped: stoppedBy.message }, stoppedText(batchId))
  const progress =
    stoppedBy || !flags.wait || lines.tally.uploaded === 0 ? null : await finished(client, batchId, lines)
  if (!stoppedBy) lines.end({ batch_id: batchId, ...lines.tally, progress }, endText(batchId, lines, progress, flags))
  if (lines.tally.failed > 0) return NOT_UPLOADED
  return progress && progress.failed + progress.cancelled > 0 ? NOT_PROCESSED : 0
}

/** The same again, but there is at least one: no batch is made for nothing, nor for a path that is not there. */
async function someOf(files: AsyncGenerator<string>, paths: string[]): Promise<AsyncGenerator<string>> {
  const first = await files.next()
  if (first.done) throw new Error(`there is no file in ${paths.join(', ')}`)
  async function* again() {
    yield first.value as string
    yield* files
  }
  return again()
}

/** Each file is opened when its turn comes. One that cannot be is told and passed over. */
async function* opened(
  paths: AsyncIterable<string>,
  begun: { path: string; bytes: number }[],
  lines: UploadLines,
): AsyncGenerator<UploadItem, void, void> {
  for await (const path of paths) {
    const file = await fileAt(path).catch((error: Error) => {
      lines.file(path, { ok: false, index: -1, name: path, error }, 0)
      return null
    })
    if (file === null) continue
    begun.push({ path, bytes: file.size })
    yield file
  }
}

async function finished(client: Holdfast, batchId: string, lines: UploadLines): Promise<BatchProgress | null> {
  let last: BatchProgress | null = null
  for await (const progress of client.batches.watch(batchId)) {
    lines.batch(progress)
    last = progress
  }
  return last
}

function endText(batchId: string, { tally }: UploadLines, progress: BatchProgress | null, flags: UploadFlags): string {
  const { uploaded, duplicates, failed, bytes } = tally
  const parts = [`${uploaded} ${uploaded === 1 ? 'file' : 'files'} (${sizeOf(bytes)}) uploaded`]
  if (duplicates > 0) parts.push(`${duplicates} of them handed in before`)
  if (failed > 0) parts.push(`${failed} not: upload them again with --batch ${batchId}`)
  const sentences = [`${parts.join(', ')}.`]
  if (progress) sentences.push(`${progress.done} DONE, ${progress.failed + progress.cancelled} ERROR.`)
  if (progress && progress.failed > 0)
    sentences.push('GET /failures groups the errors; a run is retried with from: "failed_step".')
  sentences.push(
    `Batch ${batchId}${flags.model && !flags.wait ? `: GET /batches/${batchId} tells how far it is` : ''}.`,
  )
  return sentences.join(' ')
}

function stoppedText(batchId: string): string {
  return `The service cannot be reached or is too busy; what was not uploaded can be with the same command and --batch ${batchId}.`
}

function parametersOf(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new Error(`--parameters is not JSON: ${(cause as Error).message}`, { cause })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`--parameters must be a JSON object such as '{"pages": 10}'`)
  return value as Record<string, unknown>
}

function concurrencyOf(text: string): number {
  const count = Number(text)
  if (Number.isSafeInteger(count) && count >= 1 && count <= CONCURRENCY_MAX) return count
  throw new Error(`--concurrency must be a whole number from 1 to ${CONCURRENCY_MAX}`)
}

function terminal(): Output {
  return {
    isTerminal: process.stderr.isTTY === true,
    columns: process.stderr.columns ?? 80,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
  }
}
