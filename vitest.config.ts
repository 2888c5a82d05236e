/** One Postgres cluster per version for the whole test run (see test/support/global-setup.ts); each test file in a process of its own. */

import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    environment: 'node',
    // Child processes ask the kernel to die with the thread that spawned them, so tests run on a main thread.
    pool: 'forks',
    // Most tests wait for Postgres or for a child; one worker less than there are cores would leave a small machine idle.
    maxWorkers: Math.max(2, availableParallelism()),
    include: ['{src,test,examples,bench,client}/**/*.test.ts'],
    // Those on a real Ray cluster are run by `npm run test:ray`.
    exclude: ['**/node_modules/**', 'test/ray/**'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default'],
  },
})
