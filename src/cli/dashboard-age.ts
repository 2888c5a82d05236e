/** Whether the dashboard of a checkout has to be built: when it is missing, or older than something that it is made of. */

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** From the folder of the dashboard. */
const SOURCES = [
  'src',
  'public',
  'index.html',
  'vite.config.ts',
  'package.json',
  '../client/src',
  '../package-lock.json',
]

/** False where there are no sources, as in an installed package, which brings the built one. */
export async function mustBuild(root: string): Promise<boolean> {
  if ((await changedAtMs(join(root, 'src'))) === null) return false
  const built = await changedAtMs(join(root, 'dist', 'index.html'))
  if (built === null) return true
  for (const source of SOURCES) if (await isNewer(join(root, source), built)) return true
  return false
}

/** Of a folder, also when something in it was removed. Tests are not built. */
async function isNewer(path: string, thanMs: number): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  if (found === null || path.endsWith('.test.ts')) return false
  if (found.mtimeMs > thanMs) return true
  if (!found.isDirectory()) return false
  for (const name of await readdir(path)) if (await isNewer(join(path, name), thanMs)) return true
  return false
}

async function changedAtMs(path: string): Promise<number | null> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  )
}
