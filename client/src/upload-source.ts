/**
 * What can be uploaded, behind one face: bytes that are read in pieces, each of which can be sent again.
 *
 * A stream can be read only once, so the piece that is on its way is kept until the service has it.
 */

import type { Bytes } from './transport.ts'

/** Something with a size that can be read from any place, such as a file on disk. */
export type UploadSource = {
  readonly name?: string | undefined
  readonly size: number
  readonly type?: string | undefined
  /** Changes with the content, such as the time of the last change; without it an upload is not taken up again by itself. */
  readonly version?: string | undefined
  /** The bytes from `from` up to, not including, `to`. */
  read(from: number, to: number): Promise<Bytes>
  close?(): Promise<void>
}

export type UploadInput = Blob | Uint8Array | UploadSource | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

export type Sized = {
  name: string
  size: number
  type: string | null
  version: string | null
  read: UploadSource['read']
}

export function sourceOf(
  input: UploadInput,
  { name, size, type }: { name?: string | undefined; size?: number | undefined; type?: string | undefined },
): Sized {
  const given = (own: { name?: string; type?: string }) => {
    const named = name ?? own.name ?? ''
    if (named === '') throw new TypeError('an upload needs a name: give it as `name`')
    return { name: named, type: type || own.type || null }
  }
  if (input instanceof Blob) {
    const file = input as Blob & { name?: string; lastModified?: number }
    const version = file.lastModified === undefined ? null : String(file.lastModified)
    return { ...given(file), size: file.size, version, read: async (from, to) => file.slice(from, to) }
  }
  if (input instanceof Uint8Array) {
    const bytes = input as Uint8Array<ArrayBuffer>
    return { ...given({}), size: bytes.byteLength, version: null, read: async (from, to) => bytes.subarray(from, to) }
  }
  if ('read' in input) {
    const { version = null } = input
    const own = { ...(input.name && { name: input.name }), ...(input.type && { type: input.type }) }
    return { ...given(own), size: input.size, version, read: (from, to) => input.read(from, to) }
  }
  if (size === undefined) throw new TypeError('a stream is uploaded with its `size` in bytes')
  return { ...given({}), size, version: null, read: readerOf(input, size) }
}

/** Reads forward only; a piece that begins in the last one read is had from memory. */
function readerOf(stream: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>, size: number): UploadSource['read'] {
  const chunks = chunksOf(stream)
  let held: Uint8Array<ArrayBuffer> = new Uint8Array(0)
  let heldFrom = 0
  let rest: Uint8Array = new Uint8Array(0)

  return async (from, to) => {
    if (from < heldFrom) throw new TypeError('the stream has been read past the place where the upload has to go on')
    const piece = new Uint8Array(to - from)
    piece.set(held.subarray(from - heldFrom, to - heldFrom))
    let filled = Math.max(0, Math.min(held.byteLength - (from - heldFrom), to - from))
    while (filled < piece.byteLength) {
      if (rest.byteLength === 0) {
        const { done, value } = await chunks.next()
        if (done) throw new TypeError(`the stream ended after ${from + filled} bytes; its size was said to be ${size}`)
        rest = value
        continue
      }
      const taken = rest.subarray(0, piece.byteLength - filled)
      piece.set(taken, filled)
      filled += taken.byteLength
      rest = rest.subarray(taken.byteLength)
    }
    held = piece
    heldFrom = from
    if (to === size && (rest.byteLength > 0 || !(await chunks.next()).done))
      throw new TypeError(`the stream goes on after the ${size} bytes that it was said to have`)
    return piece
  }
}

/** Not every browser can loop over a stream. */
async function* chunksOf(
  stream: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  if (!('getReader' in stream)) {
    yield* stream
    return
  }
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      if (value.byteLength > 0) yield value
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}
