/** The tests on a real Ray cluster, which `npm run test:ray` starts and names in HOLDFAST_TEST_RAY. One file at a time: they share it. */

import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    environment: 'node',
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
    include: ['test/ray/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
