/**
 * The tests in a real Chromium, which `npm run test:e2e` runs. Two files at once, each process with one browser of
 * its own. What is measured of a page is how long it computes, which does not depend on what else the machine does.
 */

import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

const ROOT = resolve(import.meta.dirname, '../..')

process.env.HOLDFAST_TEST_POSTGRES ??= 'newest'

export default defineConfig({
  root: ROOT,
  test: {
    include: ['dashboard/e2e/**/*.test.ts'],
    environment: 'node',
    pool: 'forks',
    // One browser serves all files of a process.
    isolate: false,
    maxWorkers: 2,
    globalSetup: ['test/support/global-setup.ts', 'dashboard/e2e/support/build-first.ts'],
    // Long enough for a machine that does something else beside it.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ['default'],
  },
})
