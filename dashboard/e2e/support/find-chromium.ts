/** Which Chromium to drive: the one that HOLDFAST_TEST_CHROMIUM names, else the first found on the PATH. */

import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The first is the same browser without the parts of a window, and quicker. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const MAC = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

export const NO_CHROMIUM =
  'There is no Chromium here. Install one (`apt-get install chromium` on Debian and Ubuntu, `brew install --cask chromium` on macOS), ' +
  'or name the program of a Chromium or Chrome in HOLDFAST_TEST_CHROMIUM.'

export function findChromium(env: NodeJS.ProcessEnv = process.env): string | null {
  if (env.HOLDFAST_TEST_CHROMIUM) return env.HOLDFAST_TEST_CHROMIUM
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean)
  const onPath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))
  return [...onPath, ...(process.platform === 'darwin' ? MAC : [])].find(isProgram) ?? null
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
