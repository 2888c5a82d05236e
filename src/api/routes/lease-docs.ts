/** What the routes of remote workers say about themselves. */

import {
  CompleteBody,
  EndedObject,
  FailBody,
  HeartbeatAnswer,
  HeartbeatBody,
  LeaseAnswer,
  LeaseBody,
  LogsBody,
  NotedAnswer,
  ProgressBody,
  ReleaseBody,
  StartBody,
  StartedObject,
} from '../../contract/lease.ts'
import { CommittedStepObject, StepBody } from '../../contract/step.ts'
import type { RouteDoc } from '../route-doc.ts'
import { RunParams } from '../run-path.ts'
import { LeaseFileParams } from '../send-lease-file.ts'

const TOKEN = { 'holdfast-attempt-token': 'The token that came with the lease. No other credential is needed.' }
const LOST = ['invalid-header', 'run-not-found', 'lease-lost'] as const

const about = (doc: Omit<RouteDoc, 'tag' | 'params' | 'headers' | 'refusals'>): RouteDoc => ({
  ...doc,
  tag: 'workers',
  params: RunParams,
  headers: TOKEN,
  refusals: [...LOST],
})

const ended = (description: string) => ({ 200: { description, schema: EndedObject } })

export const LEASE_DOC: RouteDoc = {
  summary: 'Ask for work',
  description: [
    'For workers in any language. Waits up to 30 seconds for runs of these models and answers as soon as there are some.',
    'Each comes with a token, which everything said about its attempt must carry. Parameters are not redacted here.',
    'A token that is bound to queues takes from these only.',
  ].join(' '),
  tag: 'workers',
  headers: {
    prefer: '`wait=N`: how many seconds to wait, at most 60; 0 to look once. `wait_seconds` in the body counts first.',
  },
  body: LeaseBody,
  answers: {
    200: { description: 'Runs to execute, as many as `slots` at most.', schema: LeaseAnswer },
    204: { description: 'There is nothing to do now; ask again.' },
  },
  refusals: ['unknown-model', 'unknown-model-version'],
}

export const START_DOC: RouteDoc = {
  summary: 'Trade a ticket for an attempt token',
  description:
    'For the jobs of engines: a ticket is good for one token, which the job makes itself and of which it sends the hash. ' +
    'The same again gets the same answer.',
  tag: 'workers',
  params: RunParams,
  headers: { 'holdfast-ticket': 'The ticket that the job was started with.' },
  body: StartBody,
  answers: { 200: { description: 'What to execute.', schema: StartedObject } },
  refusals: [...LOST],
}

export const HEARTBEAT_DOC = about({
  summary: 'Renew a lease',
  description:
    'Due every third of `lease_seconds`. Never renews past the deadline and a short grace. Says whether a cancel was asked for.',
  body: HeartbeatBody,
  answers: { 200: { description: 'The lease is held.', schema: HeartbeatAnswer } },
})

export const FILE_DOC: RouteDoc = {
  summary: 'Download an input file of an attempt',
  description: 'The bytes of a file that the lease names, as a stream, while the attempt is open.',
  tag: 'workers',
  params: LeaseFileParams,
  headers: TOKEN,
  answers: {
    200: {
      description: 'The file.',
      type: 'application/octet-stream',
      headers: {
        'Content-Length': 'The bytes of the file. An answer that ends before is to be thrown away.',
        'Repr-Digest': 'Their SHA-256, as RFC 9530 says; it is also the id of the file.',
      },
    },
  },
  refusals: [...LOST, 'no-such-file', 'file-missing'],
}

export const PROGRESS_DOC = about({
  summary: 'Tell the progress of an attempt',
  description: 'Any JSON. The latest value is kept, written once a second at most.',
  body: ProgressBody,
  answers: { 200: { description: 'Noted.', schema: NotedAnswer } },
})

export const LOGS_DOC = about({
  summary: 'Add to the log of an attempt',
  description: 'At most 1 MiB at once. What is over the limit of an attempt is dropped, and a line says so.',
  body: LogsBody,
  answers: { 200: { description: 'Kept, as far as there is room.', schema: NotedAnswer } },
})

export const STEP_DOC: RouteDoc = {
  ...about({
    summary: 'Commit a step of an attempt',
    description: [
      'Its output is kept for good, in canonical form; the leases of later attempts of the run carry it, so that they go on after it.',
      'The first output under a name stays: the same again is answered as the first time, another one is refused.',
    ].join(' '),
    body: StepBody,
    answers: { 200: { description: 'The step is kept.', schema: CommittedStepObject } },
  }),
  refusals: [...LOST, 'step-conflict', 'step-limit'],
}

export const COMPLETE_DOC = about({
  summary: 'Complete an attempt',
  description: [
    'The result is kept in its canonical form. A success stands even when a cancel was asked for.',
    'One that is too large fails the attempt; a body that is too large to be read gets 413,',
    'and the worker says `fail` with the class `ResultTooLarge`. Said again, it is answered as before.',
  ].join(' '),
  body: CompleteBody,
  answers: ended('The attempt has ended.'),
})

export const FAIL_DOC = about({
  summary: 'Fail an attempt',
  description:
    'The retry policy decides whether another attempt follows. `cancelled` ends the run when a cancel was asked for, ' +
    'and otherwise hands it back. Said again, it is answered as before.',
  body: FailBody,
  answers: ended('The attempt has ended.'),
})

export const RELEASE_DOC = about({
  summary: 'Hand a run back',
  description: 'For a worker that stops: another one starts the run at once, and this attempt does not count.',
  body: ReleaseBody,
  answers: ended('The run is available again.'),
})
