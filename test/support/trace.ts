/** Replays the events of one run: each must be possible after the ones before, and together they lead to its present state. */

import { type AttemptState, isTerminal, type RunStatus } from '../../src/run/status.ts'
import type { Problem, Recorded } from './history.ts'

type Step = {
  from: RunStatus[]
  to: RunStatus
  /** How the attempt may have ended that this event ends. */
  ends?: AttemptState[]
}

const STEPS: Readonly<Record<string, Step>> = {
  started: { from: ['PENDING'], to: 'RUNNING' },
  submitted: { from: ['RUNNING'], to: 'RUNNING' },
  running: { from: ['RUNNING'], to: 'RUNNING' },
  adopted: { from: ['RUNNING'], to: 'RUNNING' },
  cancel_requested: { from: ['RUNNING'], to: 'RUNNING' },
  retry_scheduled: { from: ['RUNNING'], to: 'PENDING', ends: ['FAILED'] },
  lost: { from: ['RUNNING'], to: 'PENDING', ends: ['LOST'] },
  released: { from: ['RUNNING'], to: 'PENDING', ends: ['RELEASED'] },
  reclaimed: { from: ['RUNNING'], to: 'PENDING', ends: ['LOST'] },
  succeeded: { from: ['RUNNING'], to: 'SUCCEEDED', ends: ['SUCCEEDED'] },
  failed: { from: ['RUNNING'], to: 'FAILED', ends: ['FAILED', 'LOST'] },
  cancelled: {
    from: ['PENDING', 'RUNNING'],
    to: 'CANCELLED',
    ends: ['CANCELLED', 'FAILED', 'LOST', 'RELEASED'],
  },
}

/** What may be said about a run that has ended. */
const AFTERWARDS = new Set(['late_result_discarded', 'document.duplicate'])

type Event = Recorded['events'][number]
/** Who has the lease, and under which epoch. */
type Holder = { worker: string | null; epoch: number }

export function traceProblems(run: Recorded): Problem[] {
  const { events } = run
  const problems: Problem[] = []
  if (events.length !== run.eventSeq || events.some(({ seq }, index) => seq !== index + 1))
    problems.push(['I9', `events [${events.map(({ seq }) => seq)}] are not 1..${run.eventSeq}`])
  const ends = events.filter(({ type, status }) => !AFTERWARDS.has(type) && status && isTerminal(status))
  if (ends.length !== (isTerminal(run.status) ? 1 : 0))
    problems.push(['I3', `it is ${run.status} after ${ends.length} events that ended it`])
  let status: RunStatus = 'PENDING'
  let attempt = 0
  let holder: Holder = { worker: null, epoch: 0 }
  for (const event of events) {
    if (event.type === 'started') {
      attempt += 1
      holder = firstHolder(run, event, attempt)
    }
    if (event.type === 'adopted') {
      if (event.epoch !== holder.epoch + 1)
        problems.push(['I4', `event ${event.seq} adopts under epoch ${event.epoch} after ${holder.epoch}`])
      holder = { worker: event.worker, epoch: event.epoch ?? 0 }
    }
    problems.push(...stepProblems(run, event, status, attempt, holder))
    status = STEPS[event.type]?.to ?? status
  }
  if (status !== run.status) problems.push(['I3', `its events lead to ${status}, it is ${run.status}`])
  if (attempt !== run.attemptCount)
    problems.push(['I4', `it started ${attempt} times and has ${run.attemptCount} attempts`])
  return problems
}

/** Each adoption of an attempt has moved its worker and its epoch on by one. */
function firstHolder(run: Recorded, started: Event, attempt: number): Holder {
  const adoptions = run.events.filter((event) => event.type === 'adopted' && event.attempt === attempt).length
  const latest = run.attempts[attempt - 1]
  const worker = adoptions === 0 ? (latest?.worker ?? null) : started.worker
  return { worker, epoch: (latest?.epoch ?? 0) - adoptions }
}

/** `attempt` is the latest that has started; it is open while the run is RUNNING. */
function stepProblems(run: Recorded, event: Event, from: RunStatus, attempt: number, holder: Holder): Problem[] {
  const problems: Problem[] = []
  const { type, seq } = event
  const step = STEPS[type]
  const latest = run.attempts[attempt - 1]
  if ((type === 'created') !== (seq === 1)) problems.push(['I3', `event ${seq} is ${type}`])
  if (step && !step.from.includes(from)) problems.push(['I3', `event ${seq} ${type} follows ${from}`])
  // Kinds of events that are not known here say something about a run and never change its status.
  const after = step?.to ?? from
  if (event.status !== null && event.status !== after)
    problems.push(['I3', `event ${seq} ${type} says ${event.status} where ${after} follows`])
  if (type === 'started' && (event.attempt !== attempt || event.worker !== holder.worker))
    problems.push(['I4', `event ${seq} starts attempt ${event.attempt} of ${event.worker}`])
  if (step?.ends && from === 'RUNNING') {
    if (event.attempt !== attempt || event.worker !== holder.worker || event.worker !== latest?.worker)
      problems.push(['I5', `event ${seq} ${type} is of attempt ${event.attempt} of ${event.worker}`])
    if (!latest || !step.ends.includes(latest.state))
      problems.push(['I4', `event ${seq} ${type} ended attempt ${attempt}, which is ${latest?.state}`])
  }
  const holds = from === 'RUNNING' && event.epoch === holder.epoch && event.worker === holder.worker
  if (type === 'late_result_discarded' && holds)
    problems.push(['I5', `event ${seq} discarded the result of the lease holder`])
  return problems
}
