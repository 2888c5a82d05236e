/**
 * The room a folder takes on its disk, with everything in it. No link is followed. Each name counts for something, so that a million
 * empty files are not nothing. What vanishes meanwhile counts as it was or not at all.
 */

import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'

const BLOCK_BYTES = 512
const NAME_BYTES = 1024

/** Stops counting above `enough`. */
export async function folderBytes(folder: string, enough = Number.POSITIVE_INFINITY): Promise<number> {
  let bytes = 0
  const waiting = [folder]
  for (let next = waiting.pop(); next !== undefined && bytes <= enough; next = waiting.pop()) {
    try {
      for await (const entry of await opendir(next)) {
        const path = join(next, entry.name)
        if (entry.isDirectory()) waiting.push(path)
        const blocks = await lstat(path).then(
          (stat) => stat.blocks,
          () => 0,
        )
        bytes += NAME_BYTES + blocks * BLOCK_BYTES
        if (bytes > enough) break
      }
    } catch {
      // It was removed, or may not be read by us.
    }
  }
  return bytes
}
