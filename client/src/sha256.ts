/**
 * SHA-256 piece by piece. The browser's own digest takes only whole messages, and does not exist in pages without TLS; this one
 * needs constant memory and works everywhere.
 */

const BLOCK = 64
const PIECE = 1024 * 1024
/** So many bytes are handed to the platform at once when it can do it. */
const WHOLE_MAX = 32 * 1024 * 1024

/** The first 32 bits of the fractional parts of roots of primes, as the standard defines its constants. */
function constants(count: number, root: number): Uint32Array {
  const words = new Uint32Array(count)
  for (let found = 0, candidate = 2; found < count; candidate += 1) {
    let isPrime = true
    for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) if (candidate % divisor === 0) isPrime = false
    if (!isPrime) continue
    words[found] = fraction32(candidate, root)
    found += 1
  }
  return words
}

/** In whole numbers, because a double has too few digits for all of them: the root of n · 2^(32 · root), without its whole part. */
function fraction32(n: number, root: number): number {
  const power = BigInt(root)
  const target = BigInt(n) << (32n * power)
  let low = 0n
  let high = 1n << 40n
  while (high - low > 1n) {
    const middle = (low + high) >> 1n
    if (middle ** power <= target) low = middle
    else high = middle
  }
  return Number(low & 0xffffffffn)
}

const START = constants(8, 2)
const ROUND = Int32Array.from(constants(64, 3))

export class Sha256 {
  readonly #state: Uint32Array = START.slice()
  readonly #words: Int32Array = new Int32Array(64)
  readonly #block: Uint8Array = new Uint8Array(BLOCK)
  readonly #view: DataView = new DataView(this.#block.buffer)
  #filled = 0
  #bytes = 0

  update(bytes: Uint8Array): this {
    this.#bytes += bytes.byteLength
    for (let from = 0; from < bytes.byteLength; ) {
      const taken = Math.min(BLOCK - this.#filled, bytes.byteLength - from)
      this.#block.set(bytes.subarray(from, from + taken), this.#filled)
      this.#filled += taken
      from += taken
      if (this.#filled === BLOCK) this.#mix()
    }
    return this
  }

  /** In hexadecimal. Nothing may be added afterwards. */
  digest(): string {
    const bits = this.#bytes * 8
    this.#block[this.#filled] = 0x80
    this.#block.fill(0, this.#filled + 1)
    if (this.#filled >= BLOCK - 8) {
      this.#mix()
      this.#block.fill(0)
    }
    this.#view.setUint32(BLOCK - 8, Math.floor(bits / 2 ** 32))
    this.#view.setUint32(BLOCK - 4, bits >>> 0)
    this.#mix()
    return Array.from(this.#state, (word) => word.toString(16).padStart(8, '0')).join('')
  }

  #mix(): void {
    const words = this.#words
    for (let i = 0; i < 16; i += 1) words[i] = this.#view.getUint32(i * 4)
    for (let i = 16; i < 64; i += 1) {
      const x = words[i - 15]!
      const y = words[i - 2]!
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
      words[i] = words[i - 16]! + s0 + words[i - 7]! + s1
    }
    const state = this.#state
    // Whole numbers of 32 bits throughout, without iterators: this is where all the time goes.
    let a = state[0]! | 0
    let b = state[1]! | 0
    let c = state[2]! | 0
    let d = state[3]! | 0
    let e = state[4]! | 0
    let f = state[5]! | 0
    let g = state[6]! | 0
    let h = state[7]! | 0
    for (let i = 0; i < 64; i += 1) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUND[i]! + words[i]!) | 0
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
      h = g
      g = f
      f = e
      e = (d + t1) | 0
      d = c
      c = b
      b = a
      a = (t1 + t2) | 0
    }
    state[0] = state[0]! + a
    state[1] = state[1]! + b
    state[2] = state[2]! + c
    state[3] = state[3]! + d
    state[4] = state[4]! + e
    state[5] = state[5]! + f
    state[6] = state[6]! + g
    state[7] = state[7]! + h
    this.#filled = 0
  }
}

export type HashOptions = { signal?: AbortSignal; onProgress?: (hashed: number, total: number) => void }

/** The id that a file has, or would have: in hexadecimal. */
export async function sha256Of(input: Blob | Uint8Array, options: HashOptions = {}): Promise<string> {
  const blob = input instanceof Blob ? input : new Blob([input as Uint8Array<ArrayBuffer>])
  if (blob.size > WHOLE_MAX || !globalThis.crypto?.subtle) return hashInPieces(blob, options)
  const digest = await crypto.subtle.digest('SHA-256', await blob.arrayBuffer())
  options.signal?.throwIfAborted()
  options.onProgress?.(blob.size, blob.size)
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

export async function hashInPieces(blob: Blob, { signal, onProgress }: HashOptions = {}): Promise<string> {
  const hash = new Sha256()
  for (let from = 0; from < blob.size; from += PIECE) {
    signal?.throwIfAborted()
    const piece = blob.slice(from, from + PIECE)
    hash.update(new Uint8Array(await piece.arrayBuffer()))
    onProgress?.(from + piece.size, blob.size)
  }
  return hash.digest()
}
