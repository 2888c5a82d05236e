/**
 * The files of a form, one after the other, each accepted or refused on its own: what was accepted before stays when a later one is
 * refused, or when the form breaks.
 *
 * Whether there is a batch to be made shows with the second file, so the first is accepted when that begins, or when the form ends.
 */

import type { FastifyRequest } from 'fastify'
import { type AcceptedFile, type RefusedFile, UPLOAD_FILES_MAX, UploadFields } from '../contract/file.ts'
import { ERRORS, Refusal } from '../run/errors.ts'
import { checkedValue } from './body.ts'
import { safeFileName } from './file-name.ts'
import { type FormPart, formParts } from './form-parts.ts'
import { problemOf, refusalOf } from './problem.ts'
import { UploadBroken } from './upload-body.ts'
import type { Received, UploadRequest } from './upload-request.ts'

type Item = AcceptedFile | RefusedFile
type FilePart = Extract<FormPart, { kind: 'file' }>

/** Throws a Refusal when nothing was accepted and the form as a whole, or its only file, is refused. */
export async function receiveForm(
  request: FastifyRequest,
  upload: UploadRequest,
  pieces: AsyncIterable<Uint8Array>,
): Promise<Item[]> {
  const items: Item[] = []
  const fields = new Map<string, string>()
  let first: Received | null = null
  let lastRefusal: unknown = null
  /** The part that is being read. */
  let current = ''
  let fileCount = 0

  const accept = async (received: Received) => void items.push(await upload.accept(received))
  const refuse = (name: string, error: unknown) => {
    const problem = problemOf(refusalOf(error), request.id)
    items.push({ status: problem.status, name, problem })
    lastRefusal = error
  }

  async function takeFile(part: FilePart): Promise<void> {
    if (part.field !== 'file') throw new Refusal('invalid-body', `Files come in fields named file, not ${part.field}.`)
    if (fileCount === 0) await upload.begin(checkedValue(Object.fromEntries(fields), UploadFields))
    if (fileCount === UPLOAD_FILES_MAX) throw tooMany()
    fileCount += 1
    if (fileCount === 2) await upload.share()
    if (first) await acceptFirst()
    try {
      const received = await upload.receive(part.name, part.pieces)
      if (fileCount === 1) first = received
      else await accept(received)
    } catch (error) {
      if (!isOfOneFile(error)) throw error
      refuse(safeFileName(part.name), error)
      await part.skip()
    }
  }

  async function acceptFirst(): Promise<void> {
    const received = first!
    first = null
    try {
      await accept(received)
    } catch (error) {
      if (!isOfOneFile(error)) throw error
      refuse(received.name, error)
    }
  }

  try {
    for await (const part of formParts(request.headers, pieces)) {
      current = part.kind === 'file' ? safeFileName(part.name) : part.field
      if (part.kind === 'file') await takeFile(part)
      else takeField(fields, part, fileCount)
    }
    if (first) await acceptFirst()
    if (fileCount === 0) throw new Refusal('invalid-body', 'The form holds no field named file with a file.')
    if (fileCount === 1 && items[0]?.problem) throw lastRefusal
  } catch (error) {
    if (first) await upload.discard(first)
    if (error instanceof UploadBroken || !items.some(({ problem }) => problem === null)) throw error
    refuse(current, error)
  }
  return items
}

function takeField(
  fields: Map<string, string>,
  { field, text }: Extract<FormPart, { kind: 'field' }>,
  fileCount: number,
): void {
  if (fileCount > 0) {
    throw new Refusal('invalid-body', `The field ${field} comes after a file; fields must come before all files.`)
  }
  if (fields.has(field)) throw new Refusal('invalid-body', `The field ${field} is given more than once.`)
  fields.set(field, text)
}

/** The next file may fare better. Without the client, the database or the store it cannot. */
function isOfOneFile(error: unknown): boolean {
  return error instanceof Refusal && ERRORS[error.code].status < 500 && error.code !== 'request-timeout'
}

function tooMany(): Refusal {
  return new Refusal('too-many-files', `A request may bring ${UPLOAD_FILES_MAX} files at most.`)
}
