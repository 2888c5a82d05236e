/**
 * A Ray job server played by the test: jobs are records that the test changes, and any next request can be made to go wrong. It answers as the
 * real one does: 404 as text, 500 with a traceback for an id that exists, 405 for what looks like a browser, 401 and 403 for tokens.
 */

import type { RaySubmission } from '../../src/executor/ray-client.ts'
import { type Act, answers, type ScriptedServer, scriptedServer } from './scripted-http.ts'

export type StubJob = {
  status: string
  message: string | null
  error_type: string | null
  driver_exit_code: number | null
  submission: RaySubmission
  logs: string
}

export type RayStub = ScriptedServer & {
  jobs: Map<string, StubJob>
  session: string
  /** Every POST of a job that was carried out or refused. */
  submits: RaySubmission[]
  stops: string[]
  /** What a stop does to the job; by default it is STOPPED at once. */
  onStop: (job: StubJob) => void
  /** Set it to make every request go wrong. */
  down: Act | null
  token: string | null
  change(id: string, changes: Partial<StubJob>): void
  /** Requests of a kind, such as `GET /api/version`. */
  count(line: string): number
}

export async function rayStub(): Promise<RayStub> {
  const stub = (await scriptedServer()) as RayStub
  Object.assign(stub, {
    jobs: new Map(),
    session: 'session_1',
    submits: [],
    stops: [],
    down: null,
    token: null,
    onStop: (job: StubJob) => {
      job.status = 'STOPPED'
    },
    change: (id: string, changes: Partial<StubJob>) => void Object.assign(stub.jobs.get(id)!, changes),
    count: (line: string) => stub.seen.filter(({ method, path }) => `${method} ${path}` === line).length,
  })
  stub.otherwise((seen, response) => (stub.down ?? ((one, reply) => act(stub, one)(one, reply)))(seen, response))
  return stub
}

/** What Ray would do with the request; a test may do it and lose the reply. */
export function act(stub: RayStub, { method, path, headers, json }: Parameters<Act>[0]): Act {
  const browser = Object.keys(headers).some((name) => /^(sec-fetch-|origin$|referer$)/.test(name))
  if (method !== 'GET' && (browser || /^Mozilla/.test(headers['user-agent'] ?? '')))
    return answers(405, 'not for browsers')
  if (stub.token !== null && headers.authorization === undefined) return answers(401, 'Unauthorized')
  if (stub.token !== null && headers.authorization !== `Bearer ${stub.token}`) return answers(403, 'Forbidden')
  if (path === '/api/version') return answers(200, { version: '4', ray_version: '2.60.0', session_name: stub.session })
  if (path.startsWith('/api/packages/')) return method === 'PUT' ? answers(200, '') : answers(404, 'not here')
  if (path === '/api/jobs/' && method === 'POST') return submit(stub, json())
  if (path === '/api/jobs/')
    return answers(
      200,
      [...stub.jobs.entries()].map(([id, job]) => details(id, job)),
    )
  const [, id = '', what] = /^\/api\/jobs\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? []
  const job = stub.jobs.get(id)
  if (!job) return answers(404, `Job ${id} does not exist`)
  if (what === undefined) return answers(200, details(id, job))
  if (what === 'logs') return answers(200, { logs: job.logs })
  const stopped = job.status === 'RUNNING'
  stub.stops.push(id)
  stub.onStop(job)
  return answers(200, { stopped })
}

function submit(stub: RayStub, submission: RaySubmission): Act {
  const id = submission.submission_id
  stub.submits.push(submission)
  if (stub.jobs.has(id)) {
    return answers(500, `Traceback (most recent call last):\nValueError: Job with submission_id ${id} already exists.`)
  }
  const job = { status: 'RUNNING', message: null, error_type: null, driver_exit_code: null, logs: '', submission }
  stub.jobs.set(id, job)
  return answers(200, { job_id: id, submission_id: id })
}

function details(id: string, { submission, logs: _logs, ...job }: StubJob) {
  const { runtime_env, metadata, entrypoint } = submission
  return { type: 'SUBMISSION', job_id: null, submission_id: id, entrypoint, runtime_env, metadata, ...job }
}
