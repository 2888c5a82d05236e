/**
 * The tests in a real Chromium, which `npm run test:e2e` runs. Those of screens two files at once, each process with one browser of its own;
 * then those that measure a page, one at a time, so that it has the machine for itself.
 */

import { resolve } from 'node:path'
import { defineConfig, type TestProjectConfiguration } from 'vitest/config'

const ROOT = resolve(import.meta.dirname, '../..')
const ALL = ['dashboard/e2e/**/*.test.ts']
const MEASURED = ['first-load', 'large', 'long-list'].map((name) => `dashboard/e2e/${name}.test.ts`)

process.env.HOLDFAST_TEST_POSTGRES ??= 'newest'

function project(name: string, order: number, workers: number, include: string[], exclude: string[]) {
  const test = {
    name,
    include,
    exclude,
    environment: 'node',
    pool: 'forks',
    // One browser serves all files of a process.
    isolate: false,
    maxWorkers: workers,
    sequence: { groupOrder: order },
    // Long enough for a machine that does something else beside it.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    // A page and its test are two programs on a machine that others share. What is broken fails again, and a test that needed its second try is
    // named. A measurement has one try.
    retry: name === 'screens' ? 1 : 0,
  } as const
  return { root: ROOT, test } satisfies TestProjectConfiguration
}

export default defineConfig({
  root: ROOT,
  test: {
    globalSetup: ['test/support/global-setup.ts', 'dashboard/e2e/support/build-first.ts'],
    projects: [project('screens', 0, 2, ALL, MEASURED), project('measured', 1, 1, MEASURED, [])],
    reporters: ['default'],
  },
})
