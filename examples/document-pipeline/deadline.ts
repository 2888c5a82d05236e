/**
 * Ends work that takes too long, at the places where it asks. What never asks is ended with its process, by the run's
 * timeout.
 */

import { RefusedDocument } from './refused-document.ts'

export type Deadline = { check(): void }

export function deadlineIn(ms: number, now: () => number = () => performance.now()): Deadline {
  const endsMs = now() + ms
  return {
    check() {
      if (now() <= endsMs) return
      const message = `its text was not out within ${ms / 1000} s; split the document, or save it as plain text`
      throw new RefusedDocument('DocumentTooSlow', message)
    },
  }
}
