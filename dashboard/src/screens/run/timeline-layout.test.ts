import type { Attempt, Run, RunEvent, Step } from '@holdfast/client'
import { describe, expect, it } from 'vitest'
import { layTimeline, ticksOf } from './timeline-layout.ts'

const START = Date.parse('2030-01-31T08:00:00Z')
const at = (seconds: number) => new Date(START + seconds * 1_000).toISOString()

const run = (more: Partial<Run>) =>
  ({
    status: 'SUCCEEDED',
    created_at: at(0),
    available_at: at(0),
    finished_at: at(100),
    attempt_count: 1,
    ...more,
  }) as Run
const attempt = (more: Partial<Attempt>) =>
  ({
    attempt: 1,
    state: 'SUCCEEDED',
    submitted_at: at(10),
    started_at: at(10),
    finished_at: at(100),
    ...more,
  }) as Attempt
const step = (more: Partial<Step>) =>
  ({ attempt: 1, from_run_id: null, started_at: null, finished_at: null, ...more }) as Step
const event = (more: Partial<RunEvent>) => ({ attempt: 1, data: null, ...more }) as RunEvent

function lay(facts: { run?: Run; attempts?: Attempt[]; steps?: Step[]; events?: RunEvent[]; nowS?: number }) {
  const { nowS = 100, ...rest } = facts
  return layTimeline({ run: run({}), attempts: [], steps: [], events: [], ...rest, nowMs: START + nowS * 1_000 })
}

const shape = (bars: { kind: string; left: number; width: number }[]) =>
  bars.map(({ kind, left, width }) => `${kind} ${left.toFixed(2)}+${width.toFixed(2)}`)

describe('a run that went well', () => {
  it('waits in the queue and then works', () => {
    const { rows, now } = lay({ attempts: [attempt({})] })
    expect(shape(rows[0]!.bars)).toEqual(['queue 0.00+0.10', 'work 0.10+0.90'])
    expect(now).toBeNull()
  })

  it('shows the time it asked to start at, and what an engine took to begin', () => {
    const attempts = [attempt({ submitted_at: at(40), started_at: at(60) })]
    const { rows } = lay({ run: run({ available_at: at(30) }), attempts })
    expect(shape(rows[0]!.bars)).toEqual([
      'scheduled 0.00+0.30',
      'queue 0.30+0.10',
      'handed-over 0.40+0.20',
      'work 0.60+0.40',
    ])
  })
})

describe('a run that was tried again', () => {
  const first = attempt({ state: 'FAILED', finished_at: at(20) })
  const second = attempt({ attempt: 2, submitted_at: at(60), started_at: at(60) })
  const twice = run({ attempt_count: 2, available_at: at(50) })
  const retry = event({ type: 'retry_scheduled', data: { available_at: at(50) } })

  it('has its backoff and its second time in the queue before the second attempt', () => {
    const { rows } = lay({ run: twice, attempts: [first, second], events: [retry] })
    expect(shape(rows[1]!.bars)).toEqual(['backoff 0.20+0.30', 'queue 0.50+0.10', 'work 0.60+0.40'])
  })

  it('marks a lost lease, and waits only in the queue after it', () => {
    const lost = attempt({ state: 'LOST', finished_at: at(20) })
    const { rows } = lay({ run: run({ attempt_count: 2, available_at: at(20) }), attempts: [lost, second] })
    expect(rows[0]!.marks).toMatchObject([{ kind: 'lost', place: 0.2 }])
    expect(shape(rows[1]!.bars)).toEqual(['queue 0.20+0.40', 'work 0.60+0.40'])
  })

  it('marks a release, an adoption and a request to cancel', () => {
    const released = attempt({ state: 'RELEASED', finished_at: at(20) })
    const events = [event({ type: 'adopted', at: at(15) }), event({ type: 'cancel_requested', at: at(18) })]
    const { rows } = lay({ attempts: [released], events })
    expect(rows[0]!.marks.map(({ kind }) => kind)).toEqual(['adopted', 'cancel-requested', 'released'])
  })

  it('waits for the next attempt up to now', () => {
    const { rows, now } = lay({
      run: run({ status: 'PENDING', finished_at: null, available_at: at(90) }),
      attempts: [first],
      events: [event({ type: 'retry_scheduled', data: { available_at: at(90) } })],
      nowS: 50,
    })
    expect(rows[1]).toMatchObject({ id: 'waiting', bars: [{ kind: 'backoff', toMs: null }] })
    expect(now).toBeCloseTo(1 / 1.03)
  })
})

describe('steps', () => {
  it('lie under the attempt that did them, and end where they ended', () => {
    const steps = [
      step({ name: 'load', state: 'SUCCEEDED', started_at: at(10), finished_at: at(30) }),
      step({ name: 'fit', state: 'FAILED', started_at: at(30), attempt: 1 }),
      step({ name: 'kept', state: 'SUCCEEDED', started_at: at(1), finished_at: at(2), from_run_id: 'another' }),
      step({ name: 'report', state: 'PENDING', attempt: null }),
    ]
    const { rows } = lay({ attempts: [attempt({ state: 'FAILED' })], steps })
    expect(rows.map(({ label, note }) => [label, note])).toEqual([
      ['Attempt 1', null],
      ['load', null],
      ['fit', null],
      ['kept', 'taken over from the run before'],
      ['report', 'has not begun'],
    ])
    expect(shape(rows[2]!.bars)).toEqual(['step 0.30+0.70'])
  })

  it('grow while they run', () => {
    const steps = [step({ name: 'load', state: 'RUNNING', started_at: at(10) })]
    const running = run({ status: 'RUNNING', finished_at: null })
    const { rows, now } = lay({ run: running, attempts: [attempt({ state: 'RUNNING', finished_at: null })], steps })
    expect(rows[1]!.bars[0]!.toMs).toBeNull()
    expect(rows[1]!.bars[0]!.left + rows[1]!.bars[0]!.width).toBeCloseTo(now!)
  })
})

it('a page whose clock is behind shows nothing that ends before it began', () => {
  const { rows } = lay({
    run: run({ status: 'RUNNING', finished_at: null }),
    attempts: [attempt({ finished_at: null })],
    nowS: -30,
  })
  expect(rows.flatMap(({ bars }) => bars).every(({ width, left }) => width >= 0 && left >= 0 && left <= 1)).toBe(true)
})

it('ticks are round numbers, few, and within the axis', () => {
  for (const lengthMs of [10, 137, 1_000, 1_400, 2_400, 7_000, 45_000, 3_600_000, 90_000_000, 4e9]) {
    const ticks = ticksOf(lengthMs)
    expect(ticks.length).toBeGreaterThanOrEqual(2)
    expect(ticks.length).toBeLessThanOrEqual(11)
    expect(ticks.at(-1)!.place).toBeLessThanOrEqual(1 + 1e-9)
  }
  expect(ticksOf(45_000).map(({ seconds }) => seconds)).toEqual([0, 10, 20, 30, 40])
})
