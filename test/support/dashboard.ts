/** A folder that looks like a built dashboard, gone with its test. */

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { tempFolder } from './temp-folder.ts'

export const BUILT_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <base href="./" />
    <meta name="style-nonce" content="" />
    <script type="module" crossorigin src="./assets/main-1.js"></script>
  </head>
  <body></body>
</html>
`

export async function builtDashboard(files: Record<string, string> = {}): Promise<string> {
  const folder = await tempFolder()
  onTestFinished(folder.remove)
  const dir = join(folder.path, 'dist')
  await writeBuild(dir, files)
  return dir
}

/** In the place of whatever is there; null leaves nothing. */
export async function writeBuild(dir: string, files: Record<string, string> | null): Promise<void> {
  await rm(dir, { recursive: true, force: true })
  if (files === null) return
  for (const [path, text] of Object.entries({ 'index.html': BUILT_PAGE, ...files })) {
    await mkdir(dirname(join(dir, path)), { recursive: true })
    await writeFile(join(dir, path), text)
  }
}
