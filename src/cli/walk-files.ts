/**
 * The files among paths that a person gave: files as they are, folders with everything in them, one at a time, so that a folder of any
 * size needs no memory. Hidden files of a folder, and links in it, are passed over; who wants one names it.
 */

import type { Dir, Stats } from 'node:fs'
import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Rejects with a sentence, before the first file, when a path that was named is not there. */
export async function* walkFiles(paths: string[]): AsyncGenerator<string, void, void> {
  const named: { path: string; found: Stats }[] = []
  for (const path of paths) {
    const found = await stat(path).catch((cause: Error) => {
      throw new Error(`${path} cannot be read: ${cause.message}`, { cause })
    })
    if (!found.isDirectory() && !found.isFile()) throw new Error(`${path} is neither a file nor a folder`)
    named.push({ path, found })
  }
  for (const { path, found } of named) {
    if (found.isDirectory()) yield* within(path)
    else yield path
  }
}

async function* within(folder: string): AsyncGenerator<string, void, void> {
  let entries: Dir
  try {
    entries = await opendir(folder)
  } catch {
    // Whoever tries to read it learns why it cannot be; the others go on.
    yield folder
    return
  }
  for await (const entry of entries) {
    if (entry.name.startsWith('.')) continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* within(path)
    else if (entry.isFile()) yield path
  }
}
