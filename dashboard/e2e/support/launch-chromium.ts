/** A Chromium without a window, as the tests and the screenshots start it. */

import { type Browser, chromium } from 'playwright-core'
import { findChromium, NO_CHROMIUM } from './find-chromium.ts'

export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === null) throw new Error(NO_CHROMIUM)
  // Its sandbox cannot be made by root, as which containers run; what is opened here is our own.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({ executablePath, args: [...args, '--disable-dev-shm-usage'] })
}
