/**
 * Random operations of several workers, done by the pure rules and by real Postgres, with all state compared after each.
 *
 * A failure prints its seed and the shortest sequence found. `HOLDFAST_MODEL_SEED` repeats a run,
 * `HOLDFAST_MODEL_SEQUENCES` makes it longer.
 */

import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { checkHistory } from '../support/history.ts'
import { type Operation, operation } from './operations.ts'
import { Sequence } from './sequence.ts'
import { Tally } from './tally.ts'
import { openWorld, type World } from './world.ts'

const OPERATIONS_PER_SEQUENCE = 50
const seed = Number(process.env.HOLDFAST_MODEL_SEED ?? Math.floor(Math.random() * 2 ** 31))
const sequences = Number(process.env.HOLDFAST_MODEL_SEQUENCES ?? 300)
const streams = [1, 2, 3]
/** Ample: a sequence takes a tenth of a second, and a failure is made shorter for a minute or two. */
const TIMEOUT_MS = 300_000 + sequences * 500

const refusable = [
  'submit',
  'claim',
  'beat',
  'settle succeed',
  'settle fail',
  'settle retry',
  'settle cancel',
  'settle release',
  'settle lost',
  'hand over',
  'sign of life',
  'ticket',
  'say',
  'adopt',
  'let go',
  'settle together',
  'settle again',
  'zombie',
  'thaw',
  'progress',
  'reclaim',
  'cancel',
  'confirm overdue cancels',
  'clean keys',
]

const tally = new Tally()
const worlds = new Map<number, World>()
let started = 0

afterAll(async () => {
  await Promise.all([...worlds.values()].map((world) => world.close()))
  console.log(`model test: seed ${seed}, ${tally.summary()}`)
})

async function runSequence(stream: number, operations: Operation[]): Promise<void> {
  const world = worlds.get(stream) ?? (await openWorld())
  worlds.set(stream, world)
  started += 1
  try {
    await new Sequence(world, tally, `owner-${started}`).run(operations)
  } catch (error) {
    // What a failed sequence leaves behind would disturb the shorter ones that are tried next.
    worlds.delete(stream)
    await world.close()
    throw error
  }
}

describe('random operations', () => {
  test.concurrent.each(streams)(
    'leave Postgres and the rules in the same state (stream %i)',
    async (stream) => {
      const list = fc.array(operation, { minLength: OPERATIONS_PER_SEQUENCE, maxLength: OPERATIONS_PER_SEQUENCE })
      const property = fc.asyncProperty(list, (operations) => runSequence(stream, operations))
      const numRuns = Math.ceil(sequences / streams.length)
      await fc.assert(property, { seed: seed + stream, numRuns, unbiased: true })
    },
    TIMEOUT_MS,
  )

  test('keep the invariants of every history', async () => {
    for (const world of worlds.values()) {
      const { runs, violations } = await checkHistory(world.pool)
      expect(runs).toBeGreaterThan(0)
      expect(violations).toEqual([])
    }
  })

  test.each(refusable)('%s is both accepted and refused', (name) => {
    expect(tally.count(name, 'accepted')).toBeGreaterThan(0)
    expect(tally.count(name, 'refused')).toBeGreaterThan(0)
  })

  test.each(['submit known', 'crash', 'freeze', 'clock forward', 'clock back', 'pause', 'resume'])(
    '%s happens',
    (name) => {
      expect(tally.count(name, 'accepted')).toBeGreaterThan(0)
    },
  )

  test('an impostor is always refused', () => {
    expect(tally.count('impostor', 'accepted')).toBe(0)
    expect(tally.count('impostor', 'refused')).toBeGreaterThan(0)
  })
})
