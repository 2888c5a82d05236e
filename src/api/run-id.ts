/**
 * Run ids: UUIDv7. Ids of one process rise strictly, also within a millisecond and when the clock goes back, so that
 * runs lie in the index in the order they were accepted. 62 random bits keep the ids of two processes apart.
 */

import { randomFillSync } from 'node:crypto'

export type RunIdSource = {
  nowMs?: () => number
  fillRandom?: (bytes: Uint8Array) => void
}

const POOL_BYTES = 4096
/** Eight for the random part, two for the start of the counter. */
const BYTES_PER_ID = 10
const COUNTER_MAX = 0xfff
const HEX_DIGITS = Buffer.from('0123456789abcdef')
const HYPHEN = 0x2d
/** Where the digits of a byte follow a hyphen. */
const BYTES_AFTER_HYPHEN: readonly number[] = [4, 6, 8, 10]
const RUN_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function createRunIds({ nowMs = Date.now, fillRandom = fillFromSystem }: RunIdSource = {}): () => string {
  const pool = Buffer.alloc(POOL_BYTES)
  const id = Buffer.alloc(16)
  const text = Buffer.alloc(36)
  let used = POOL_BYTES
  let lastMs = -1
  let counter = 0

  return () => {
    if (used + BYTES_PER_ID > POOL_BYTES) {
      fillRandom(pool)
      used = 0
    }
    const now = nowMs()
    if (now > lastMs) {
      lastMs = now
      // The upper half is left free for the other ids of this millisecond.
      counter = pool.readUInt16BE(used) & (COUNTER_MAX >> 1)
    } else if (counter < COUNTER_MAX) counter += 1
    else {
      // More ids than the counter holds: the next millisecond is begun early.
      lastMs += 1
      counter = 0
    }
    id.writeUIntBE(lastMs, 0, 6)
    id.writeUInt16BE(0x7000 | counter, 6)
    pool.copy(id, 8, used + 2, used + BYTES_PER_ID)
    id[8] = 0x80 | (id[8]! & 0x3f)
    used += BYTES_PER_ID
    return hyphenated(id, text)
  }
}

/** Any UUID in its usual spelling; what is none cannot be the id of a run. */
export function isRunId(text: string): boolean {
  return RUN_ID.test(text)
}

/** Written into `text` digit by digit, so that the only string that is made is the id. */
function hyphenated(id: Buffer, text: Buffer): string {
  let at = 0
  for (let index = 0; index < id.length; index += 1) {
    if (BYTES_AFTER_HYPHEN.includes(index)) text[at++] = HYPHEN
    const byte = id[index]!
    text[at++] = HEX_DIGITS[byte >> 4]!
    text[at++] = HEX_DIGITS[byte & 0xf]!
  }
  return text.toString('latin1')
}

function fillFromSystem(bytes: Uint8Array): void {
  randomFillSync(bytes)
}
