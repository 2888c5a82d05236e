/**
 * How a finished build takes the place of the last one. A folder cannot replace another in one step, so the old one steps aside first: who dies in between
 * leaves none, and the next start builds again. Several may do it at once; one of them wins, and nothing is left of the others.
 */

import { readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

const DRAFT = /^\.dist-/
/** Far longer than a build takes. */
const ABANDONED_MS = 600_000
const TRIES_MAX = 5

/** Where this process builds; beside the place it goes to, because a rename stays within one file system. */
export function draftFolder(parent: string): string {
  return join(parent, `.dist-${process.pid}-${Date.now().toString(36)}`)
}

export async function putInPlace(draft: string, place: string): Promise<void> {
  const aside = `${draft}.old`
  for (let tries = 1; ; tries += 1) {
    await rename(place, aside).catch(unless('ENOENT'))
    try {
      await rename(draft, place)
      break
    } catch (error) {
      // Another build was put there in this moment. Ours may be the newer one.
      if (!isTaken(error) || tries === TRIES_MAX) {
        await rename(aside, place).catch(() => {})
        throw error
      }
    }
    await rm(aside, { recursive: true, force: true })
  }
  await rm(aside, { recursive: true, force: true })
}

/** What builds that were killed have left. */
export async function removeAbandoned(parent: string, nowMs = Date.now()): Promise<void> {
  for (const name of (await readdir(parent)).filter((one) => DRAFT.test(one))) {
    const path = join(parent, name)
    const found = await stat(path).catch(unless('ENOENT'))
    if (found && nowMs - found.ctimeMs > ABANDONED_MS) await rm(path, { recursive: true, force: true })
  }
}

function isTaken(error: unknown): boolean {
  return ['ENOTEMPTY', 'EEXIST', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')
}

function unless(code: string): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (error.code !== code) throw error
  }
}
