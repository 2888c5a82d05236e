/** Cuts a stream of bytes into lines of text. A line longer than allowed ends the stream: in what servers send, it can only be a mistake. */

import { StringDecoder } from 'node:string_decoder'
import { KubernetesUnreachable } from './kubernetes-http.ts'

export class LineBuffer {
  readonly #charsMax: number
  readonly #onLine: (line: string) => void
  readonly #decoder = new StringDecoder('utf8')
  #partial = ''

  constructor(charsMax: number, onLine: (line: string) => void) {
    this.#charsMax = charsMax
    this.#onLine = onLine
  }

  push(chunk: Buffer): void {
    const lines = this.#decoder.write(chunk).split('\n')
    lines[0] = this.#partial + lines[0]
    this.#partial = lines.pop() ?? ''
    if (this.#partial.length > this.#charsMax) throw new KubernetesUnreachable('a line of a reply has no end')
    for (const line of lines) if (line !== '') this.#onLine(line)
  }
}
