/**
 * Which shortcut the keys pressed mean. A shortcut is one key (`/`) or two in a row (`g r`); a longer pause forgets the first.
 */

const PAUSE_MS = 1_200

export type Pressed = { key: string; atMs: number } | null

export function matched(
  known: ReadonlySet<string>,
  before: Pressed,
  key: string,
  atMs: number,
): { shortcut: string | null; pressed: Pressed } {
  const pair = before && atMs - before.atMs <= PAUSE_MS ? `${before.key} ${key}` : null
  if (pair && known.has(pair)) return { shortcut: pair, pressed: null }
  if (known.has(key)) return { shortcut: key, pressed: null }
  return { shortcut: null, pressed: { key, atMs } }
}
