/** The tests on a real S3 server, which `npm run test:s3` installs and `start-server.ts` starts. */

import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    environment: 'node',
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
    include: ['test/s3/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts', 'test/s3/start-server.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
