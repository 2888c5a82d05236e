/** Cuts a byte stream of the Postgres protocol into messages, whatever the chunks it arrives in. */

export type Message = { type: string; bytes: Buffer }

const SSL_REQUEST = 80877103
const GSS_REQUEST = 80877104

/** A client's stream begins with messages that have no type byte: a wish for encryption perhaps, then the startup message. */
export function messageCutter(from: 'client' | 'server'): (chunk: Buffer) => Message[] {
  let pending = Buffer.alloc(0)
  let startingUp = from === 'client'
  return (chunk) => {
    pending = Buffer.concat([pending, chunk])
    const messages: Message[] = []
    for (;;) {
      const headerLength = startingUp ? 4 : 5
      if (pending.length < headerLength) return messages
      const length = pending.readUInt32BE(headerLength - 4) + (startingUp ? 0 : 1)
      if (pending.length < length) return messages
      const bytes = pending.subarray(0, length)
      pending = pending.subarray(length)
      const type = startingUp ? 'startup' : String.fromCharCode(bytes[0] ?? 0)
      if (startingUp) {
        const code = bytes.readUInt32BE(4)
        if (code === SSL_REQUEST || code === GSS_REQUEST) throw new Error('the test proxy does not do encryption')
        startingUp = false
      }
      messages.push({ type, bytes })
    }
  }
}

/** Tells the SQL text a client's message is about: a query, a statement to prepare, or a prepared one to be bound. */
export function queryTextReader(): (message: Message) => string | null {
  const prepared = new Map<string, string>()
  return ({ type, bytes }) => {
    if (type === 'Q') return cString(bytes, 5).text
    if (type === 'P') {
      const name = cString(bytes, 5)
      const { text } = cString(bytes, name.end)
      prepared.set(name.text, text)
      return text
    }
    if (type === 'B') {
      const portal = cString(bytes, 5)
      return prepared.get(cString(bytes, portal.end).text) ?? null
    }
    return null
  }
}

function cString(bytes: Buffer, start: number): { text: string; end: number } {
  const end = bytes.indexOf(0, start)
  return { text: bytes.toString('utf8', start, end), end: end + 1 }
}
