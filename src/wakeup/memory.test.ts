import { describe } from 'vitest'
import { wakeupConformance } from '../../test/conformance/wakeup.ts'
import { createMemoryWakeup } from './memory.ts'
import type { Wakeup } from './wakeup.ts'

describe('wake-ups in memory', () => {
  // One bus for all "processes"; a test that closes it gets a new one next time.
  let shared: Wakeup | null = null
  wakeupConformance((log) => {
    if (shared) return shared
    const made = createMemoryWakeup({ log })
    shared = {
      ...made,
      async close() {
        shared = null
        await made.close()
      },
    }
    return shared
  })
})
