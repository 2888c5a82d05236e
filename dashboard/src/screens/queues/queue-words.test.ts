import type { Queue } from '@holdfast/client'
import { expect, test } from 'vitest'
import { lookOf, pauseWords, resumeWords } from './queue-words.ts'

const queue = (more: Partial<Queue>) =>
  ({
    paused: false,
    pending: 0,
    pending_capped: false,
    running: 0,
    running_capped: false,
    live_workers: 1,
    ...more,
  }) as Queue

test('paused comes before served, and no worker is bad only when there is something to do', () => {
  expect(lookOf(queue({ paused: true, live_workers: 0 })).word).toBe('PAUSED')
  expect(lookOf(queue({})).word).toBe('SERVED')
  expect(lookOf(queue({ live_workers: 0 }))).toMatchObject({ word: 'NO WORKER', tone: 'quiet' })
  expect(lookOf(queue({ live_workers: 0, pending: 1 }))).toMatchObject({ word: 'NO WORKER', tone: 'bad' })
})

test('pausing says what waits and what goes on', () => {
  expect(pauseWords(queue({}))).toBe('Nothing new is started. Nothing waits in it now.')
  expect(pauseWords(queue({ pending: 1, running: 2 }))).toBe(
    'Nothing new is started. 1 run waits in it until it is resumed. What runs goes on (2).',
  )
  expect(pauseWords(queue({ pending: 1_000, pending_capped: true }))).toContain('1,000+ runs wait')
})

test('resuming says what may start, and when nobody would start it', () => {
  expect(resumeWords(queue({}))).toBe('Nothing waits in it now.')
  expect(resumeWords(queue({ pending: 3 }))).toBe('3 waiting runs may start, as soon as there are places.')
  expect(resumeWords(queue({ pending: 1, live_workers: 0 }))).toContain('no live worker')
})
