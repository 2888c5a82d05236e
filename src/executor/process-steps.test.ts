/** Steps across the border of a child process. */

import { afterAll, expect, test } from 'vitest'
import { StepFailure } from '../run/step-failure.ts'
import type { CommittedStep, DoneStep, StepReports, StepState } from './executor.ts'
import { attemptOf, Notes, outcomeOf, resultOf } from './fixtures/attempts.ts'
import { executorWith, stopExecutors } from './fixtures/executors.ts'

afterAll(stopExecutors)

const shared = executorWith({ childrenMax: 1 })

class StepNotes extends Notes {
  readonly committed: CommittedStep[] = []
  readonly told: StepState[][] = []
  before: DoneStep[] = []
  refuse: Error | null = null
  readonly steps: StepReports = {
    done: async () => this.before,
    commit: async (step) => {
      if (this.refuse) throw this.refuse
      this.committed.push(step)
    },
    states: (states) => void this.told.push(states),
  }
}

test('each output is committed before the next step begins, with what it used', async () => {
  const notes = new StepNotes()
  expect(await resultOf(shared, attemptOf('stepped', { n: 1 }), notes)).toEqual({ pages: [2, 4, 6], length: 1_000_000 })
  const names = notes.committed.map(({ name }) => name)
  expect(names.filter((name) => !name.includes('['))).toEqual(['load', 'pages', 'work', 'end'])
  expect(names.slice(1, 4).toSorted()).toEqual(['pages[0]', 'pages[1]', 'pages[2]'])
  const work = notes.committed.find(({ name }) => name === 'work')!
  expect(work).toMatchObject({ tries: 1, startedAt: expect.any(Date) })
  expect(work.outputText).toHaveLength(1_000_027)
  expect(work.cpuSeconds).toBeGreaterThan(0.025)
  expect(work.peakMemoryBytes).toBeGreaterThan(20 * 1024 * 1024)
  // Items that ran beside each other cannot be told apart.
  expect(notes.committed.find(({ name }) => name === 'pages[1]')).toMatchObject({
    cpuSeconds: null,
    peakMemoryBytes: null,
  })
})

test('the memory of a step is its own peak', async () => {
  const notes = new StepNotes()
  await resultOf(shared, attemptOf('stepped', { n: 1, allocateMb: 150 }), notes)
  const peak = (of: string) => notes.committed.find(({ name }) => name === of)!.peakMemoryBytes!
  expect(peak('load')).toBeGreaterThan(150 * 1024 * 1024)
})

test('a later attempt begins where the first one stopped', async () => {
  const notes = new StepNotes()
  notes.before = [
    { name: 'load', outputText: '{"n":10,"pid":1}' },
    { name: 'pages[1]', outputText: '"kept"' },
  ]
  expect(await resultOf(shared, attemptOf('stepped', { n: 1 }), notes)).toMatchObject({ pages: [10, 'kept', 30] })
  expect(notes.committed.map(({ name }) => name)).not.toContain('load')
})

test.each([
  [new StepFailure('StepNotKept', 'no room', { isFinal: false }), true],
  [new StepFailure('StepLimit', 'too many', { isFinal: true }), false],
])('what was not kept fails the attempt as the worker says: %s', async (refuse, retryable) => {
  const notes = Object.assign(new StepNotes(), { refuse })
  const outcome = await outcomeOf(shared, attemptOf('stepped', { n: 1 }), notes)
  expect(outcome).toMatchObject({ status: 'failed', error: { class: refuse.name, message: refuse.message, retryable } })
})

test('a step that failed for good is told of before the outcome', async () => {
  const notes = new StepNotes()
  const outcome = await outcomeOf(shared, attemptOf('fails-a-step'), notes)
  expect(outcome).toMatchObject({
    status: 'failed',
    error: {
      class: 'RetryError',
      message: 'step "parse" failed 2 times; last error: RangeError: no such page',
      retryable: false,
    },
  })
  expect(notes.told.at(-1)).toMatchObject([{ name: 'parse', state: 'FAILED', tries: 2, startedAt: expect.any(Date) }])
})

test('without a worker that keeps steps, they are done all the same', async () => {
  expect(await resultOf(shared, attemptOf('stepped', { n: 2 }))).toMatchObject({ pages: [3, 6, 9] })
})
