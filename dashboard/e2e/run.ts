/**
 * `npm run test:e2e`: the tests of the dashboard in a real Chromium, on services and databases of their own. Words
 * given to it choose the files (`npm run test:e2e -- overview`). Where there is no Chromium it says what to install
 * and fails.
 */

import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { findChromium, NO_CHROMIUM } from './support/find-chromium.ts'

const ROOT = resolve(import.meta.dirname, '../..')

const chromium = findChromium()
if (chromium === null) {
  console.error(`\n== The tests in a browser were NOT run. ${NO_CHROMIUM}`)
  process.exit(1)
}
const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
const argv = [vitest, 'run', '--config', 'dashboard/e2e/vitest.config.ts', ...process.argv.slice(2)]
const env = { ...process.env, HOLDFAST_TEST_CHROMIUM: chromium }
process.exit(spawnSync(process.execPath, argv, { cwd: ROOT, env, stdio: 'inherit' }).status ?? 1)
