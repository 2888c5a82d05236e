/** Reads a stream of server-sent events: the fields `id`, `event` and `data` of the HTML standard, and comments as signs of life. */

export type ServerEvent = { id: string | null; event: string; data: string }

const LINE_END = /\r\n|\n|\r/

export class ServerEventReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder()
  #rest = ''
  #block: string[] = []
  #lastId: string | null = null

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader()
  }

  /** The id to come back with: that of the last event, or one that came alone. Null while there was none. */
  get lastId(): string | null {
    return this.#lastId
  }

  /** The events of the next piece, none for a mere sign of life; null at the end. What the end cuts off is never seen. */
  async next(): Promise<ServerEvent[] | null> {
    const { done, value } = await this.#reader.read()
    return done ? null : this.#take(this.#decoder.decode(value, { stream: true }))
  }

  /** Ends the connection, also while `next` waits. */
  cancel(): void {
    // It may be gone already; nobody waits for that.
    this.#reader.cancel().catch(() => {})
  }

  #take(piece: string): ServerEvent[] {
    const text = this.#rest + piece
    // A CR at the very end may be half of a CRLF: it waits for the next piece.
    const held = text.endsWith('\r') ? '\r' : ''
    const lines = text.slice(0, text.length - held.length).split(LINE_END)
    this.#rest = `${lines.pop()}${held}`
    const events: ServerEvent[] = []
    for (const line of lines) {
      if (line !== '') {
        this.#block.push(line)
        continue
      }
      const event = eventOf(this.#block)
      this.#lastId = idOf(this.#block) ?? this.#lastId
      this.#block = []
      if (event) events.push(event)
    }
    return events
  }
}

/** An event without data is none. */
function eventOf(lines: string[]): ServerEvent | null {
  const data = valuesOf(lines, 'data')
  if (data.length === 0) return null
  return { id: idOf(lines), event: valuesOf(lines, 'event').at(-1) ?? 'message', data: data.join('\n') }
}

function idOf(lines: string[]): string | null {
  return valuesOf(lines, 'id').at(-1) ?? null
}

function valuesOf(lines: string[], name: string): string[] {
  const fields = lines.map((line) => /^([^:]*)(?:: ?(.*))?$/.exec(line)!)
  return fields.filter((field) => field[1] === name).map((field) => field[2] ?? '')
}
