/**
 * What went wrong with a document, in words for the person who handed it in, and what they can do about it. Models say in their message
 * what they found; the class says what helps.
 */

import { HoldfastError, QuotaExceeded, UploadFailed } from '@holdfast/client'
import { formatBytes } from '../../parts/format.ts'

export type Advice = { what: string; todo: string }

const SAVE_AGAIN = 'Open the original, save it again, and hand in the new file.'
const OUR_FAULT =
  'Nothing is wrong with the document. Press Retry; if it happens again, tell those who run this service.'

/** By the class of the error that ended its run. `what` is used only where the model's own words say less. */
const TODO: Record<string, string> = {
  EmptyDocument: 'Check that it is the right file, and hand in the one that has content.',
  UnsupportedKind: 'Save it as PDF, Word (.docx), text, Markdown, HTML or CSV, and hand in that file.',
  EncryptedDocument: 'Remove the password, or save it as a PDF without one, and hand in that file.',
  TruncatedDocument: 'It was probably not copied to its end. Copy or download it again, and hand in the whole file.',
  DamagedDocument: SAVE_AGAIN,
  DocumentTooLarge: 'Split it into smaller documents, and hand those in.',
  ZipBomb: SAVE_AGAIN,
  UnsafeDocument: 'Save it as a plain PDF, and hand in that file.',
  DocumentTooSlow: 'Save it as a simpler PDF, or split it, and hand that in.',
  MemoryLimit: 'Split it into smaller documents, and hand those in.',
  OutOfMemory: 'Split it into smaller documents, and hand those in.',
  Timeout: 'It took too long. Press Retry; if it happens again, split the document.',
  InputFileUnavailable: 'Hand in the same file once more; that brings back what was lost.',
  InputFileDamaged: 'Hand in the same file once more; that replaces what was damaged.',
  InputFolderFull: OUR_FAULT,
}

/** An error that names no class we know: what the model says, which was written for people. */
const UNKNOWN = 'If it is something in the document, correct it and hand in the new file. Otherwise press Retry.'

export type RunEnd = { status: string; last_error: { class: string; message: string } | null }

export function adviceOnRun({ status, last_error: error }: RunEnd): Advice {
  if (status === 'CANCELLED') return { what: 'Somebody stopped it.', todo: 'Press Retry to have it read after all.' }
  if (!error) return { what: 'It could not be read.', todo: OUR_FAULT }
  return { what: sentence(error.message) || 'It could not be read.', todo: ownIn(TODO, error.class) ?? UNKNOWN }
}

/** Why a file could not be sent. */
export function adviceOnUpload(error: unknown): Advice {
  if (!(error instanceof HoldfastError)) return UNREADABLE
  const { problem } = error
  if (error.code === 'file-too-large') return tooLarge(problem?.limit_bytes)
  if (isOverQuota(error)) return OVER_QUOTA
  if (error.status === 401) return SIGNED_OUT
  const known = ownIn(REFUSED, error.code ?? '')
  if (known) return known
  const what = sentence(problem?.detail ?? error.message)
  return { what, todo: problem?.next ?? 'Press “Send again”; if it happens again, tell those who run this service.' }
}

/** The next file would meet the same: not the file is at fault. Null when it is the file. */
export function stopsEverything(error: unknown): Advice | null {
  if (!(error instanceof HoldfastError)) return null
  const isStop = isOverQuota(error) || error.status === 401 || STOPPING.has(error.code ?? '')
  return isStop ? adviceOnUpload(error) : null
}

const STOPPING = new Set(['storage-full', 'forbidden', 'unknown-model', 'unknown-model-version', 'model-takes-no-file'])

export const UNREADABLE: Advice = {
  what: 'The browser cannot read this file any more: it was moved, changed or deleted.',
  todo: 'Choose the file again.',
}

const OVER_QUOTA: Advice = {
  what: 'Your quota is used up.',
  todo: 'What was sent is safe. Wait until some of it is finished, then go on; or ask those who run this service for more.',
}

const SIGNED_OUT: Advice = {
  what: 'You are signed out.',
  todo: 'Sign in again in another tab, then go on here.',
}

const NOT_A_READER: Advice = {
  what: 'What you chose to process the files with is not there any more, or takes no file.',
  todo: 'Choose something else to process them with, and hand them in again.',
}

const REFUSED: Record<string, Advice> = {
  'storage-full': {
    what: 'The service has no room for more files.',
    todo: 'Tell those who run this service, and go on when there is room.',
  },
  forbidden: { what: 'You may look, but not hand in files.', todo: 'Ask those who run this service for the right to.' },
  'unknown-model': NOT_A_READER,
  'unknown-model-version': NOT_A_READER,
  'model-takes-no-file': NOT_A_READER,
  'invalid-parameters': {
    what: 'What you chose to process the files with needs more than a file.',
    todo: 'Choose something else to process them with, or use the screen Submit.',
  },
}

function isOverQuota(error: HoldfastError): boolean {
  const code = error instanceof UploadFailed || error instanceof QuotaExceeded ? error.code : null
  return error instanceof QuotaExceeded || code === 'quota-exceeded' || code === 'cost-limit-exceeded'
}

function tooLarge(limit: unknown): Advice {
  const most = typeof limit === 'number' ? ` The largest allowed is ${formatBytes(limit)}.` : ''
  return { what: `The file is too large.${most}`, todo: 'Split it into smaller files, and hand those in.' }
}

function sentence(text: string): string {
  const line = text.trim().split('\n', 1)[0]!.trim()
  return line === '' || /[.!?…]$/.test(line) ? line : `${line}.`
}

/** Names come from outside: `constructor` is no entry. */
function ownIn<Value>(table: Record<string, Value>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
