/** The settings of how facts become messages; part of the table in `settings.ts`. */

import { integer, seconds } from './value-kinds.ts'

const DAY_SECONDS = 24 * 3600

export const OUTBOX_ROWS = {
  progressEvery: {
    env: 'HOLDFAST_PROGRESS_EVERY',
    default: '1000',
    about: 'Finished documents, of an owner or of a batch, between two messages about progress.',
    kind: integer(1, 1_000_000_000),
  },
  failureWindowSeconds: {
    env: 'HOLDFAST_FAILURE_WINDOW_SECONDS',
    default: '300',
    about: 'Failures of one batch with the same error are told in one mail, which is sent so long after the first.',
    kind: seconds(0, DAY_SECONDS),
  },
  batchQuietSeconds: {
    env: 'HOLDFAST_BATCH_QUIET_SECONDS',
    default: '30',
    about: 'A batch in which nothing ended for so long, and nothing waits or runs, is told as finished.',
    kind: seconds(0, DAY_SECONDS),
  },
}
