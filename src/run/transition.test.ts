/** The table of transitions: what it allows, what it refuses and why, and that the drawing in the docs is the same. */

import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ATTEMPT_STATES, isTerminal, RUN_STATUSES, TERMINAL_STATUSES } from './status.ts'
import { ATTEMPT_TRANSITIONS, mayAttemptBecome, nextRun, RUN_EVENTS, RUN_TRANSITIONS } from './transition.ts'

const page = readFileSync(new URL('../../docs/run-lifecycle.md', import.meta.url), 'utf8')
const [runDrawing = [], attemptDrawing = []] = [...page.matchAll(/```mermaid\n([^`]*)```/g)].map((match) =>
  edgesOf(match[1] as string),
)

function edgesOf(drawing: string): string[] {
  const [kind, ...lines] = drawing.trim().split('\n')
  expect(kind).toBe('stateDiagram-v2')
  return lines.map((line) => line.trim())
}

/** The first column of the table rows, wherever they stand on the page. */
const firstColumn = [...page.matchAll(/^\| ([A-Za-z_]+) \|/gm)].map((match) => match[1] as string)

describe('docs/run-lifecycle.md', () => {
  test('draws every row of the run table and nothing else', () => {
    const rows = RUN_TRANSITIONS.map(
      ({ event, from, to, when }) => `${from} --> ${to}: ${event}${when ? ` [${when}]` : ''}`,
    )
    const ends = TERMINAL_STATUSES.map((status) => `${status} --> [*]`)
    expect(runDrawing.toSorted()).toEqual(['[*] --> PENDING: submit', ...rows, ...ends].toSorted())
  })

  test('draws every row of the attempt table and nothing else', () => {
    const rows = ATTEMPT_STATES.flatMap((from) => ATTEMPT_TRANSITIONS[from].map((to) => `${from} --> ${to}`))
    const ends = ATTEMPT_STATES.filter((state) => ATTEMPT_TRANSITIONS[state].length === 0).map(
      (state) => `${state} --> [*]`,
    )
    expect(attemptDrawing.toSorted()).toEqual(['[*] --> SUBMITTED', '[*] --> RUNNING', ...rows, ...ends].toSorted())
  })

  test('explains every state and event', () => {
    const explained = firstColumn.filter((word) => word !== 'state' && word !== 'event')
    expect(explained).toEqual(expect.arrayContaining([...RUN_STATUSES, ...RUN_EVENTS, ...ATTEMPT_STATES]))
    expect(new Set(explained)).toEqual(new Set([...RUN_STATUSES, ...RUN_EVENTS, ...ATTEMPT_STATES]))
  })

  test('states the promise', () => {
    expect(page.toLowerCase()).toContain(
      'a request is accepted once; a run reaches exactly one terminal state, once; every attempt is recorded; ' +
        "only the current lease holder's result is ever visible; your code may execute more than once.",
    )
  })
})

const facts = fc.record({ cancelRequested: fc.boolean(), attemptsLeft: fc.boolean() })
const event = fc.constantFrom(...RUN_EVENTS)

test('property: nothing leaves a terminal state', () => {
  fc.assert(
    fc.property(event, fc.constantFrom(...TERMINAL_STATUSES), facts, (name, from, given) => {
      expect(nextRun(name, from, given)).toEqual({ ok: false, why: `a ${from} run is final` })
    }),
  )
})

test('property: a run whose cancel is requested never goes back to PENDING', () => {
  fc.assert(
    fc.property(event, fc.boolean(), (name, attemptsLeft) => {
      const next = nextRun(name, 'RUNNING', { cancelRequested: true, attemptsLeft })
      expect(next.ok && next.status).not.toBe('PENDING')
    }),
  )
})

test('every end of a RUNNING run ends its attempt, and nothing else does', () => {
  for (const { from, to, attempt, event: name } of RUN_TRANSITIONS) {
    const ends = from === 'RUNNING' && to !== 'RUNNING'
    expect([name, attempt !== null && attempt !== 'RUNNING']).toEqual([name, ends])
  }
})

test('every row decides for some facts', () => {
  for (const { event: name, from, to, attempt } of RUN_TRANSITIONS) {
    const outcomes = [true, false].flatMap((cancelRequested) =>
      [true, false].map((attemptsLeft) => nextRun(name, from, { cancelRequested, attemptsLeft })),
    )
    expect(outcomes).toContainEqual({ ok: true, status: to, attempt })
  }
})

test.each([
  [true, true, 'CANCELLED'],
  [true, false, 'CANCELLED'],
  [false, true, 'PENDING'],
  [false, false, 'FAILED'],
])('reclaim with cancel requested %j and attempts left %j gives %s', (cancelRequested, attemptsLeft, status) => {
  expect(nextRun('reclaim', 'RUNNING', { cancelRequested, attemptsLeft })).toEqual({
    ok: true,
    status,
    attempt: 'LOST',
  })
})

test.each(['succeed', 'fail'] as const)('%s stands although a cancel is requested', (name) => {
  const next = nextRun(name, 'RUNNING', { cancelRequested: true, attemptsLeft: true })
  expect(next).toMatchObject({ ok: true, status: name === 'succeed' ? 'SUCCEEDED' : 'FAILED' })
})

test.each([
  ['claim', 'RUNNING', 'a RUNNING run is leased already'],
  ['succeed', 'PENDING', 'a PENDING run has no attempt that could succeed'],
  ['confirm_cancel', 'PENDING', 'a PENDING run has no attempt that could confirm a cancel'],
  ['cancel', 'SUCCEEDED', 'a SUCCEEDED run is final'],
] as const)('%s of a %s run is refused in words', (name, from, why) => {
  expect(nextRun(name, from, { cancelRequested: false, attemptsLeft: true })).toEqual({ ok: false, why })
})

test('isTerminal agrees with the table', () => {
  for (const status of RUN_STATUSES)
    expect(isTerminal(status)).toBe(!RUN_TRANSITIONS.some((row) => row.from === status))
})

test('an ended attempt never changes, an open one never goes back', () => {
  expect(mayAttemptBecome('SUBMITTED', 'RUNNING')).toBe(true)
  expect(mayAttemptBecome('RUNNING', 'LOST')).toBe(true)
  expect(mayAttemptBecome('RUNNING', 'SUBMITTED')).toBe(false)
  for (const state of ATTEMPT_STATES) expect(mayAttemptBecome('SUCCEEDED', state)).toBe(false)
})
