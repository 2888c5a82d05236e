/**
 * What `holdfast upload` tells: to a person at a terminal one line that keeps changing, and a line for what needs attention; elsewhere a line for
 * each file; or JSON, one object in a line.
 */

import type { UploadOutcome } from '../../client/src/upload-many.ts'
import type { Warned } from '../../client/src/wire.ts'
import type { BatchProgress } from '../../client/src/wire-batches.ts'

export type Output = { isTerminal: boolean; columns: number; out(text: string): void; err(text: string): void }

export type Tally = { uploaded: number; duplicates: number; failed: number; bytes: number }

export type UploadLines = {
  tally: Tally
  progress(name: string, sent: number, total: number): void
  file(path: string, outcome: UploadOutcome, bytes: number): void
  batch(progress: BatchProgress): void
  end(summary: Record<string, unknown>, sentence: string): void
}

export function uploadLines(output: Output, format: 'lines' | 'json'): UploadLines {
  const tally: Tally = { uploaded: 0, duplicates: 0, failed: 0, bytes: 0 }
  const isJson = format === 'json'
  const isLive = output.isTerminal && !isJson
  let shown = ''

  /** The line that keeps changing. */
  function show(text: string): void {
    if (!isLive || text === shown) return
    shown = text
    output.err(`\r\u001b[2K${text.slice(0, Math.max(20, output.columns - 1))}`)
  }

  function line(text: string): void {
    if (isLive && shown !== '') output.err('\r\u001b[2K')
    shown = ''
    output.err(`${text}\n`)
  }

  const counted = () => {
    const parts = [`${tally.uploaded} uploaded`, sizeOf(tally.bytes)]
    if (tally.duplicates > 0) parts.push(`${tally.duplicates} duplicate`)
    if (tally.failed > 0) parts.push(`${tally.failed} failed`)
    return parts.join(', ')
  }

  return {
    tally,
    progress(name, sent, total) {
      show(`${counted()} · ${name} ${total === 0 ? 100 : Math.floor((sent / total) * 100)} %`)
    },
    file(path, outcome, bytes) {
      if (!outcome.ok) tally.failed += 1
      else {
        tally.uploaded += 1
        tally.bytes += bytes
        if (outcome.upload.duplicate) tally.duplicates += 1
      }
      if (isJson) return output.out(`${JSON.stringify(fileJson(path, outcome))}\n`)
      if (!outcome.ok) return line(`FAILED     ${path}: ${messageOf(outcome.error)}`)
      const { upload } = outcome
      const run = upload.run_id ? ` run ${upload.run_id}` : ''
      if (upload.duplicate)
        line(`DUPLICATE  ${path}${run ? `: it was handed in before,${run}` : ': it was there already'}`)
      else if (isLive) show(counted())
      else line(`UPLOADED   ${path}${run}`)
      for (const warning of warningsOf(upload)) line(`WARNING    ${path}: ${warning}`)
    },
    batch(progress) {
      if (isJson) return
      const { total, waiting, running, done, failed, cancelled, duplicate } = progress
      const text =
        `${done + failed + cancelled + duplicate} of ${total}: ${done} DONE, ${failed + cancelled} ERROR, ` +
        `${duplicate} DUPLICATE, ${running} PROCESSING, ${waiting} UPLOADED`
      if (isLive) show(text)
      else line(text)
    },
    end(summary, sentence) {
      if (isJson) output.out(`${JSON.stringify(summary)}\n`)
      else line(sentence)
    },
  }
}

function fileJson(path: string, outcome: UploadOutcome): Record<string, unknown> {
  if (outcome.ok) return { path, ok: true, ...outcome.upload }
  const { error } = outcome
  const { code = null, uploadId = null } = error as { code?: string | null; uploadId?: string | null }
  return { path, ok: false, error: error.message, code, upload_id: uploadId }
}

function warningsOf({ quota_warnings: quota, cost_limit_warning: cost }: Warned): string[] {
  return [...(quota ?? []), ...(cost ? [cost] : [])]
}

/** The name of the file stands before it already. */
function messageOf(error: Error): string {
  return error.message.replace(/^The upload of .*? failed: /, '')
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB']

export function sizeOf(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const value = bytes / 1_000 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`
}
