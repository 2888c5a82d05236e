/**
 * Writes lines to a file descriptor, usually standard output, without waiting for it.
 *
 * The first line goes out in the turn of the event loop it was written in; those that come soon after gather as text and
 * go out together some milliseconds later. A write is made by another thread, which has to be woken and to wake us: one
 * for each turn took a tenth of a busy API process. Memory is bounded: when the reader does not keep up, whole lines are
 * dropped and a line says how many.
 *
 * A process that flushes before it ends loses nothing. One that exits without that still writes out what it has
 * gathered; only the rest of a write of at most 64 KiB that a slow reader holds up at that moment is lost. One that is
 * killed loses the lines of its last milliseconds. A reader that went away ends the writing, silently.
 */

import { write, writeSync } from 'node:fs'

export type LineWriter = {
  write(line: string): void
  /** Calls back when everything written so far has left the process. */
  flush(done?: () => void): void
  /** Writes what is gathered now, blocking; for the very end of a process. */
  flushSync(): void
}

export type LineWriterOptions = {
  /** Characters held at most while the descriptor is busy. */
  charsMax?: number
  /** The line that tells of dropped ones. */
  droppedLine?: (count: number) => string
  /** Between two writes. */
  gatherMs?: number
}

const BUSY_RETRY_MS = 10
const GATHER_MS = 5
const WRITE_BYTES_MAX = 64 * 1024
const NOTHING = Buffer.alloc(0)

export function createLineWriter(descriptor: number, options: LineWriterOptions = {}): LineWriter {
  const { charsMax = 16 * 1024 * 1024, gatherMs = GATHER_MS } = options
  const { droppedLine = (count) => `${count} lines dropped\n` } = options
  let gathered = ''
  /** Taken from the gathered lines and not yet written. */
  let inHand: Buffer = NOTHING
  let dropped = 0
  /** A turn of writing is planned or under way. */
  let busy = false
  /** How many bytes at the head of `inHand` a write is busy with. */
  let inFlight = 0
  let broken = false
  /** Until the next write, while nobody waits for it. */
  let gathering: NodeJS.Timeout | null = null
  let waiting: (() => void)[] = []

  function take(): void {
    if (dropped > 0) gathered += droppedLine(dropped)
    inHand = inHand.length === 0 ? Buffer.from(gathered) : Buffer.concat([inHand, Buffer.from(gathered)])
    gathered = ''
    dropped = 0
  }

  function next(): void {
    if (gathering) clearTimeout(gathering)
    gathering = null
    if (inHand.length === 0 && gathered !== '') take()
    if (inHand.length > 0 && !broken) {
      send()
      return
    }
    busy = false
    const done = waiting
    waiting = []
    for (const each of done) each()
  }

  function send(): void {
    inFlight = Math.min(inHand.length, WRITE_BYTES_MAX)
    write(descriptor, inHand, 0, inFlight, null, (error, count) => {
      inFlight = 0
      if (error?.code === 'EAGAIN') {
        setTimeout(next, BUSY_RETRY_MS)
        return
      }
      if (error) broken = true
      else inHand = inHand.subarray(count)
      if (inHand.length > 0 || waiting.length > 0 || isMuch()) next()
      else gathering = setTimeout(next, gatherMs)
    })
  }

  function isMuch(): boolean {
    return gathered.length >= WRITE_BYTES_MAX
  }

  function flushSync(): void {
    if (broken) return
    take()
    if (inFlight > 0) {
      // The write under way is finished by its own thread meanwhile; should it be cut short, the next line begins
      // afresh.
      pause(BUSY_RETRY_MS)
      inHand = Buffer.concat([Buffer.from('\n'), inHand.subarray(inFlight)])
    }
    for (let tries = 0; inHand.length > 0 && tries < 100; ) {
      try {
        inHand = inHand.subarray(writeSync(descriptor, inHand))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
        tries++
        pause(BUSY_RETRY_MS)
      }
    }
  }

  process.once('exit', flushSync)
  return {
    write(line) {
      if (broken) return
      if (gathered.length + line.length > charsMax) dropped++
      else gathered += line
      if (gathering && isMuch()) next()
      if (busy) return
      busy = true
      setImmediate(next)
    },
    flush(done = () => {}) {
      if (!busy) {
        done()
        return
      }
      waiting.push(done)
      if (gathering) next()
    },
    flushSync,
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
