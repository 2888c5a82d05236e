/**
 * Removes stored output files that nobody can reach, because their worker died before it could put them on record. Once a day the names of all
 * blobs are gone through, some at a time. A file goes only if its attempt ended more than a day ago; several sweeps at once are harmless.
 */

import { type BlobStore, refOf } from '../blob/blob.ts'
import type { Artifacts, AttemptFile } from '../store/ports/artifacts.ts'
import type { Log } from '../telemetry/log.ts'

const DAY_MS = 24 * 3600 * 1000
const NAMES_MAX = 2_000

/** As the command executor names them. */
const NAME = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.a(\d{1,9})\.files\./

export type ArtifactSweepDeps = {
  blob: Pick<BlobStore, 'names' | 'delete'>
  artifacts: Pick<Artifacts, 'orphans'>
  log: Log
  namesMax?: number
  nowMs?: () => number
}

export type ArtifactSweep = {
  /** Looks at the next names; answers whether it is not through yet. */
  next(): Promise<boolean>
  stop(): Promise<void>
}

export function createArtifactSweep(deps: ArtifactSweepDeps): ArtifactSweep {
  const { blob, artifacts, log, namesMax = NAMES_MAX, nowMs = () => performance.now() } = deps
  let walk: AsyncIterator<string> | null = null
  let beginsAtMs = 0

  async function nextFiles(): Promise<AttemptFile[]> {
    const files: AttemptFile[] = []
    walk ??= blob.names()[Symbol.asyncIterator]()
    for (let looked = 0; looked < namesMax; looked += 1) {
      const { done, value: name } = await walk.next()
      if (done) {
        walk = null
        beginsAtMs = nowMs() + DAY_MS
        break
      }
      const [, runId, attempt] = NAME.exec(name) ?? []
      if (runId) files.push({ runId, attempt: Number(attempt), ref: refOf(name) })
    }
    return files
  }

  return {
    async next() {
      if (walk === null && nowMs() < beginsAtMs) return false
      const orphans = await artifacts.orphans(await nextFiles(), DAY_MS)
      for (const ref of orphans) {
        await blob.delete(ref)
        log.info({ ref }, 'removed an output file that was never put on record')
      }
      return walk !== null
    },
    async stop() {
      await walk?.return?.()
      walk = null
    },
  }
}
