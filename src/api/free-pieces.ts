/**
 * Frees the pieces of uploads, arriving or being joined, that are done with. Their bytes lie outside the heap, where the garbage collector sees only their small
 * handles: left alone it lets 60 MB and more of them gather before it looks, however little of it is in use. So it is asked to look at the
 * young ones, which takes about a millisecond, whenever so many bytes have passed; with all uploads of the process counted together.
 */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const BYTES_BETWEEN = 8 * 1_048_576

type Collect = (options: { type: 'minor' }) => void

let collect: Collect | null = null
let passed = 0

/** To be told of every piece. */
export function piecePassed(bytes: number): void {
  passed += bytes
  if (passed < BYTES_BETWEEN) return
  passed = 0
  collect ??= collector()
  collect({ type: 'minor' })
}

function collector(): Collect {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as Collect
}
