/** One Postgres cluster per version for the whole test run (see test/support/global-setup.ts); files share processes. */

import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The long ones first, so that none of them is left to run alone at the end. */
const LONG_FIRST = [/plans\.test/, /test\/model\//, /test\/(chaos|fuzz|conformance)\//, /test\/e2e\//]

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const found = LONG_FIRST.findIndex((pattern) => pattern.test(moduleId))
      return found === -1 ? LONG_FIRST.length : found
    }
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    environment: 'node',
    // Child processes ask the kernel to die with the thread that spawned them, so tests run on a main thread.
    pool: 'forks',
    // A process per file costs a quarter of a second each; nothing here replaces modules or leaves state behind in them.
    isolate: false,
    // Most tests wait for Postgres or for a child, so a small machine has time for one more than it has cores.
    maxWorkers: availableParallelism() + (availableParallelism() < 4 ? 1 : 0),
    sequence: { sequencer: LongFirst },
    include: ['{src,test,examples,bench,client,dashboard/src,dashboard/demo}/**/*.test.ts', 'dashboard/*.test.ts'],
    // Those on a real Ray cluster and a real S3 server are run by `npm run test:ray` and `npm run test:s3`.
    exclude: ['**/node_modules/**', 'test/ray/**', 'test/s3/**'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default'],
  },
})
