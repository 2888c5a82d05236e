/**
 * A form (multipart/form-data) as its parts, in order, while it is still coming. Nothing is read ahead of the file whose bytes are being
 * taken, so that a form of any size passes through little memory.
 */

import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import { Refusal } from '../run/errors.ts'
import { UploadBroken } from './upload-body.ts'

/** A file must be taken to its end, or let go with `skip`, before the next part is asked for. */
export type FormPart =
  | { kind: 'field'; field: string; text: string }
  | { kind: 'file'; field: string; name: string | undefined; pieces: AsyncIterable<Uint8Array>; skip(): Promise<void> }

const FIELD_BYTES_MAX = 1_048_576
const FIELDS_MAX = 20
const HEADER_BYTES_MAX = 16_384

/** Throws a Refusal for what is no form, and what `pieces` throws. */
export async function* formParts(
  headers: IncomingHttpHeaders,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<FormPart> {
  const form = openForm(headers)
  const parts: FormPart[] = []
  const files = new Set<Readable>()
  let failure: Error | null = null
  let isEnded = false
  let wake = () => {}

  function fail(error: unknown): void {
    failure ??= error instanceof Refusal || error instanceof UploadBroken ? error : malformed(error)
    for (const file of files) file.destroy(failure)
    wake()
  }
  async function* taken(stream: Readable): AsyncGenerator<Uint8Array> {
    try {
      yield* stream.iterator({ destroyOnReturn: false })
    } catch (error) {
      throw failure ?? error
    }
  }
  function add(part: FormPart): void {
    parts.push(part)
    wake()
  }
  form.on('field', (field, text, _nameCut, isCut) => {
    if (isCut) fail(new Refusal('invalid-body', `The field ${JSON.stringify(field)} is too long.`))
    else add({ kind: 'field', field, text })
  })
  form.on('file', (field, stream, name) => {
    files.add(stream)
    stream.once('close', () => files.delete(stream))
    stream.on('error', fail)
    add({ kind: 'file', field, name, pieces: taken(stream), skip: () => skipped(stream) })
  })
  form.on('fieldsLimit', () => fail(new Refusal('invalid-body', `The form has more than ${FIELDS_MAX} fields.`)))
  form.on('error', fail)
  form.on('finish', () => {
    isEnded = true
    wake()
  })
  const isOver = () => failure !== null || isEnded
  void feed(form, pieces, isOver).catch(fail)
  try {
    while (parts.length > 0 || !isOver()) {
      const next = parts.shift()
      if (next) yield next
      else await new Promise<void>((resolve) => (wake = resolve))
    }
    if (failure) throw failure
  } finally {
    isEnded = true
    form.emit('drain')
  }
}

function openForm(headers: IncomingHttpHeaders): BusboyInstance {
  try {
    return new Busboy({
      headers: headers as BusboyHeaders,
      preservePath: true,
      isPartAFile: (field, _type, name) => field === 'file' || name !== undefined,
      limits: { fieldSize: FIELD_BYTES_MAX, fields: FIELDS_MAX, headerSize: HEADER_BYTES_MAX, headerPairs: 20 },
    })
  } catch (error) {
    throw malformed(error)
  }
}

async function feed(form: BusboyInstance, pieces: AsyncIterable<Uint8Array>, isOver: () => boolean): Promise<void> {
  for await (const piece of pieces) {
    if (isOver()) return
    if (!form.write(piece)) await new Promise<void>((resolve) => form.once('drain', resolve))
    if (isOver()) return
  }
  form.end()
}

function skipped(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.readableEnded) return resolve()
    for (const event of ['end', 'close', 'error']) stream.once(event, () => resolve())
    stream.resume()
  })
}

function malformed(cause: unknown): Refusal {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new Refusal('invalid-body', `The form cannot be read: ${reason}.`, { cause })
}
