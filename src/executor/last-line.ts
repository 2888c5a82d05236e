/** Keeps the last line of a stream that is not blank, up to a size, in memory of about that size whatever the stream's length. */

const LINE_FEED = 0x0a

export class LastLine {
  readonly #bytesMax: number
  /** The last line that has ended. */
  #last: Line
  /** The line that has not ended yet. */
  #open: Line

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.#last = new Line(bytesMax)
    this.#open = new Line(bytesMax)
  }

  push(chunk: Buffer): void {
    const end = chunk.lastIndexOf(LINE_FEED)
    if (end === -1) {
      this.#open.append(chunk)
      return
    }
    this.#endLines(chunk.subarray(0, end))
    this.#open = new Line(this.#bytesMax)
    this.#open.append(chunk.subarray(end + 1))
  }

  /** Of the lines that end here, the last that is not blank; the first of them began with what is open. */
  #endLines(text: Buffer): void {
    let visible = text.length
    while (visible > 0 && isSpace(text[visible - 1]!)) visible--
    const start = visible === 0 ? 0 : text.lastIndexOf(LINE_FEED, visible - 1) + 1
    if (start === 0) {
      // What comes after a line feed here is blank, so it is no harm if it joins the line.
      this.#open.append(text.subarray(0, visible))
      if (!this.#open.isBlank) this.#last = this.#open
    } else {
      this.#last = new Line(this.#bytesMax)
      this.#last.append(text.subarray(start, visible))
    }
  }

  /** Null when every line was blank; `tooLong` without bytes. */
  read(): { bytes: Buffer; tooLong: false } | { bytes: null; tooLong: true } | null {
    const line = this.#open.isBlank ? this.#last : this.#open
    if (line.isBlank) return null
    return line.tooLong ? { bytes: null, tooLong: true } : { bytes: line.bytes, tooLong: false }
  }
}

class Line {
  isBlank = true
  tooLong = false
  readonly #bytesMax: number
  #buffer = Buffer.alloc(0)
  #length = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  append(part: Buffer): void {
    if (this.isBlank) this.isBlank = part.every(isSpace)
    if (this.tooLong || part.length === 0) return
    if (this.#length + part.length > this.#bytesMax) {
      this.tooLong = true
      this.#buffer = Buffer.alloc(0)
      this.#length = 0
      return
    }
    this.#makeRoom(this.#length + part.length)
    part.copy(this.#buffer, this.#length)
    this.#length += part.length
  }

  #makeRoom(bytes: number): void {
    if (bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.min(this.#bytesMax, Math.max(bytes, this.#buffer.length * 2)))
    this.bytes.copy(larger)
    this.#buffer = larger
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)
}
