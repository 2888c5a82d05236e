/**
 * Run ids: UUIDv7. Ids of one process rise strictly, also within a millisecond and when the clock goes back, so that
 * runs lie in the index in the order they were accepted. 62 random bits keep the ids of two processes apart.
 */

import { randomFillSync } from 'node:crypto'

export type RunIdSource = {
  nowMs?: () => number
  fillRandom?: (bytes: Uint8Array) => void
}

/** Of 32 bits. */
const POOL_WORDS = 1_024
const WORDS_PER_ID = 3
const COUNTER_MAX = 0xfff
const HEX_DIGITS = Buffer.from('0123456789abcdef')
const RUN_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function createRunIds({ nowMs = Date.now, fillRandom = fillFromSystem }: RunIdSource = {}): () => string {
  const pool = new Uint32Array(POOL_WORDS)
  const bytes = new Uint8Array(pool.buffer)
  // The digits of each id are written over those of the last one, so that the only string that is made is the id.
  const text = Buffer.from('00000000-0000-0000-0000-000000000000')
  let used = POOL_WORDS
  let lastMs = -1
  let counter = 0

  return () => {
    if (used + WORDS_PER_ID > POOL_WORDS) {
      fillRandom(bytes)
      used = 0
    }
    const random = pool[used]!
    const now = nowMs()
    if (now > lastMs) {
      lastMs = now
      // The upper half is left free for the other ids of this millisecond.
      counter = random & (COUNTER_MAX >> 1)
    } else if (counter < COUNTER_MAX) counter += 1
    else {
      // More ids than the counter holds: the next millisecond is begun early.
      lastMs += 1
      counter = 0
    }
    writeDigits(text, 0, 8, Math.floor(lastMs / 0x1_0000))
    writeDigits(text, 9, 4, lastMs % 0x1_0000)
    writeDigits(text, 14, 4, 0x7000 | counter)
    writeDigits(text, 19, 4, 0x8000 | (random >>> 18))
    writeDigits(text, 24, 8, pool[used + 1]!)
    writeDigits(text, 32, 4, pool[used + 2]! & 0xffff)
    used += WORDS_PER_ID
    return text.toString('latin1')
  }
}

/** Any UUID in its usual spelling; what is none cannot be the id of a run. */
export function isRunId(text: string): boolean {
  return RUN_ID.test(text)
}

function writeDigits(text: Buffer, at: number, count: number, value: number): void {
  for (let index = 0; index < count; index += 1) {
    text[at + index] = HEX_DIGITS[(value >>> (4 * (count - 1 - index))) & 0xf]!
  }
}

function fillFromSystem(bytes: Uint8Array): void {
  randomFillSync(bytes)
}
