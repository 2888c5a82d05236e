/**
 * What the cases of the protocol (test/conformance/leases) cannot say: waiting, connections that end, tokens, engines,
 * limits.
 */

import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createTestApi, type TestApi, type TestApiOptions } from '../../../test/support/api.ts'
import { recordingLog } from '../../../test/support/recording-log.ts'
import { TOKENS_ONLY, testToken } from '../../../test/support/tokens.ts'
import { until } from '../../../test/support/until.ts'
import type { LeaseObject } from '../../contract/lease.ts'
import { newAttemptToken, newTicket } from '../../run/attempt-token.ts'
import { createMemoryWakeup } from '../../wakeup/memory.ts'

const ASK = { worker: 'w', models: ['forecast'], slots: 1, wait_seconds: 0 }
const JSON_TYPE = { 'content-type': 'application/json' }
const WORKER = { leaseMs: 60_000, pollMs: 60_000, deadlineGraceMs: 10_000 }

type Sent = { statusCode: number; body: string; json(): Record<string, unknown> }

async function house(options: TestApiOptions = {}) {
  const { log } = recordingLog()
  const api = await createTestApi({ ...options, config: { worker: WORKER, ...options.config } })
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Sent> =>
    api.app.inject({ method: 'POST', url: path, headers: { ...JSON_TYPE, ...headers }, payload: JSON.stringify(body) })
  const lease = async (body: object = {}): Promise<LeaseObject> => {
    const answer = await post('/leases', { ...ASK, ...body })
    if (answer.statusCode !== 200) throw new Error(`no lease: ${answer.statusCode} ${answer.body}`)
    return (answer.json() as { data: LeaseObject[] }).data[0]!
  }
  const say = ({ run_id: runId, token }: LeaseObject, verb: string, body: unknown = {}) =>
    post(`/leases/${runId}/${verb}`, body, { 'holdfast-attempt-token': token })
  return { ...api, post, lease, say, log }
}

describe('waiting for work', () => {
  const waking = () => createMemoryWakeup({ log: recordingLog().log })

  it('ends when there is some', async () => {
    const { post, create, store } = await house({ wakeup: waking() })
    const waiting = post('/leases', { ...ASK, wait_seconds: 30 })
    await until(
      async () => (await store.directory.workers({ limit: 9, cursor: null, state: 'live' })).items.length > 1,
      {
        what: 'the worker is shown',
      },
    )
    const { run_id: runId } = await create()
    expect((await waiting).json()).toMatchObject({ data: [{ run_id: runId }] })
  })

  it('ends with nothing when the service stops', async () => {
    const { app, store } = await house({ wakeup: waking() })
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const asked = fetch(`${url}/leases`, {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify({ ...ASK, wait_seconds: 30 }),
    })
    await shown(store)
    await app.close()
    expect((await asked).status).toBe(204)
  })

  it('ends with the connection, and takes nothing for nobody', async () => {
    const { app, store, create, get } = await house({ wakeup: waking() })
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const gone = new AbortController()
    const asked = fetch(`${url}/leases`, {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify({ ...ASK, wait_seconds: 30 }),
      signal: gone.signal,
    })
    await shown(store)
    const connections = () => new Promise<number>((resolve) => app.server.getConnections((_error, n) => resolve(n)))
    gone.abort()
    await expect(asked).rejects.toThrow()
    await until(async () => (await connections()) === 0, { what: 'the service has noticed' })
    const { run_id: runId } = await create()
    expect((await get(`/runs/${runId}`)).json()).toMatchObject({ status: 'PENDING', attempt_count: 0 })
  })

  function shown(store: TestApi['store']) {
    const workers = () => store.directory.workers({ limit: 9, cursor: null, state: 'live' })
    return until(async () => (await workers()).items.some((one) => one.workerId === 'remote:w'), {
      what: 'the worker is shown',
    })
  }
})

describe('with access tokens', () => {
  const guarded = async () => {
    const here = await house({ config: { access: TOKENS_ONLY, worker: WORKER }, queues: ['default', 'gpu'] })
    const submitter = await testToken(here.store, 'submitter')
    return { ...here, submitter }
  }

  it('a worker that is bound to queues takes from these only', async () => {
    const { store, post, create, submitter } = await guarded()
    const bound = await testToken(store, 'worker', { queues: ['gpu'] })
    const onGpu = await create({ queue: 'gpu', dedupe: 'off' }, submitter.headers)
    await create({ dedupe: 'off' }, submitter.headers)
    const refused = { code: 'forbidden', allowed_queues: ['gpu'] }
    expect((await post('/leases', ASK, bound.headers)).json()).toMatchObject(refused)
    expect((await post('/leases', { ...ASK, queues: ['gpu', 'default'] }, bound.headers)).json()).toMatchObject(refused)
    const answer = await post('/leases', { ...ASK, queues: ['gpu'], slots: 9 }, bound.headers)
    expect((answer.json() as { data: LeaseObject[] }).data.map((one) => one.run_id)).toEqual([onGpu.run_id])
  })

  it('an attempt needs its own token and no other, and web pages stay out', async () => {
    const { store, post, create, submitter } = await guarded()
    await create({}, submitter.headers)
    const worker = await testToken(store, 'worker')
    const answer = await post('/leases', ASK, worker.headers)
    const [lease] = (answer.json() as { data: LeaseObject[] }).data
    const own = { 'holdfast-attempt-token': lease!.token }
    const path = `/leases/${lease!.run_id}/heartbeat`
    expect((await post(path, {}, own)).statusCode).toBe(200)
    expect((await post(path, {}, { ...own, 'sec-fetch-site': 'cross-site' })).json().code).toBe('cross-site-request')
    expect((await post(path, {}, worker.headers)).json().code).toBe('invalid-header')
  })

  it('an attempt may ask as often as an access token', async () => {
    const access = { ...TOKENS_ONLY, ratePerMinute: 2, rateBurst: 2, mode: 'open' as const }
    const { lease, say, create } = await house({ config: { access, worker: WORKER } })
    await create({ dedupe: 'off' })
    const one = await lease()
    await create({ dedupe: 'off' })
    const other = await lease()
    for (let beats = 0; beats < 2; beats += 1) expect((await say(one, 'heartbeat')).statusCode).toBe(200)
    expect((await say(one, 'heartbeat')).json().code).toBe('rate-limited')
    expect((await say(other, 'heartbeat')).statusCode).toBe(200)
  })
})

describe('what an attempt says', () => {
  it('is kept as a blob when it is large, under the hash of its canonical form', async () => {
    const { lease, say, create, get } = await house({ config: { result: { inlineBytesMax: 10, bytesMax: 1_000 } } })
    const { run_id: runId } = await create()
    await say(await lease(), 'complete', { result: { b: 1, a: 'x'.repeat(50) } })
    const run = (await get(`/runs/${runId}`)).json()
    const text = `{"a":"${'x'.repeat(50)}","b":1}`
    expect(run.result_ref).toMatch(/^artifacts\//)
    expect(run.result_hash).toBe(createHash('sha256').update(text).digest('hex'))
    expect((await get(`/runs/${runId}/result`)).body).toBe(text)
  })

  it('fails the run when the result is too large, the same when it is said again', async () => {
    const { lease, say, create, get } = await house({ config: { result: { inlineBytesMax: 10, bytesMax: 100 } } })
    const { run_id: runId } = await create()
    const held = await lease()
    const failed = { state: 'FAILED', run_status: 'FAILED' }
    expect((await say(held, 'complete', { result: 'x'.repeat(200) })).json()).toMatchObject(failed)
    expect((await say(held, 'complete', { result: 'x'.repeat(200) })).json()).toMatchObject(failed)
    expect((await get(`/runs/${runId}`)).json().last_error.class).toBe('ResultTooLarge')
  })

  it('is not read when it is larger than anything can be, nor when the token is not good', async () => {
    const { lease, say, create, post } = await house({ config: { result: { inlineBytesMax: 10, bytesMax: 100 } } })
    await create()
    const held = await lease()
    expect((await say(held, 'complete', { result: 'x'.repeat(3_000) })).statusCode).toBe(413)
    const logs = { pieces: [{ stream: 'log', text: 'x'.repeat(1_100_000) }] }
    expect((await say(held, 'logs', logs)).statusCode).toBe(413)
    const stranger = { 'holdfast-attempt-token': newAttemptToken(Buffer.alloc(32)).token }
    expect((await post(`/leases/${held.run_id}/logs`, logs, stranger)).statusCode).toBe(409)
    expect((await say(held, 'heartbeat')).statusCode).toBe(200)
  })

  it('does not show the secrets it was given', async () => {
    const { lease, say, create, store } = await house()
    const { run_id: runId } = await create({ parameters: { scenario: 's', api_key: 'canary-55' } })
    await say(await lease(), 'logs', { pieces: [{ stream: 'stdout', text: 'using canary-55\n' }] })
    const { pieces } = await store.attemptLogs.read(runId, { attempt: null, after: 0, limit: 10 })
    expect(pieces.map(({ text }) => text)).toEqual(['using [redacted]\n'])
  })

  it('is recorded as late when the lease was lost', async () => {
    const { lease, say, create, get, db, store } = await house()
    const { run_id: runId } = await create()
    const held = await lease()
    await db.query(`UPDATE model_runs SET lease_expires_at = clock() - interval '1 s'`)
    await store.reclaimExpired({ workerId: 'janitor', limit: 10 })
    const answer = await say(held, 'complete', { result: 1 })
    expect(answer.json().code).toBe('lease-lost')
    const { data } = (await get(`/runs/${runId}/events`)).json()
    expect(data.map(({ type }: { type: string }) => type)).toContain('late_result_discarded')
  })

  it('is settled once when it comes twice at the same time', async () => {
    const { lease, say, create, get } = await house()
    const { run_id: runId } = await create()
    const held = await lease()
    const answers = await Promise.all([1, 2, 3].map(() => say(held, 'complete', { result: 1 })))
    for (const answer of answers) expect(answer.json()).toMatchObject({ state: 'SUCCEEDED', run_status: 'SUCCEEDED' })
    const { data } = (await get(`/runs/${runId}/events`)).json()
    expect(data.map(({ type }: { type: string }) => type)).toEqual(['created', 'started', 'succeeded'])
  })
})

describe('the job of an engine', () => {
  const SECRET = newAttemptToken(Buffer.alloc(32, 1))

  async function submitted() {
    const here = await house()
    await here.create()
    const lease = await here.claim()
    const { ticket, hash } = newTicket(Buffer.alloc(32, 2))
    await here.store.attempts.handOver(lease, { engine: true, externalRef: { job: 'j' }, ticketHash: hash })
    const start = (tokenHash = SECRET.hash.toString('hex')) =>
      here.post(`/leases/${lease.runId}/start`, { token_hash: tokenHash }, { 'holdfast-ticket': ticket })
    const say = (verb: string, body: unknown = {}) =>
      here.post(`/leases/${lease.runId}/${verb}`, body, { 'holdfast-attempt-token': SECRET.token })
    return { ...here, runId: lease.runId, held: lease, start, say }
  }

  it('trades its ticket for one token, and again for the same', async () => {
    const { start, runId } = await submitted()
    const first = await start()
    expect(first.json()).toMatchObject({ run_id: runId, attempt: 1, parameters: { scenario: 'high_inflation' } })
    expect(first.json()).not.toHaveProperty('token')
    expect((await start()).statusCode).toBe(200)
    expect((await start('0'.repeat(64))).json().code).toBe('lease-lost')
  })

  it.each([
    ['complete', { result: { b: 2, a: 1 } }, { ok: true, result_text: '{"a":1,"b":2}' }],
    ['fail', { error: { class: 'E', message: 'm', exit_code: 3 } }, { ok: false, error: { class: 'E', exit_code: 3 } }],
    ['fail', { cancelled: true }, { ok: false, error: { class: 'Cancelled' } }],
  ])('what it says by %s is kept for the worker that holds it, which is told', async (verb, body, outcome) => {
    const { start, say, held, hints, store, runId } = await submitted()
    await start()
    expect((await say('heartbeat')).json()).toMatchObject({ cancel_requested: false })
    const kept = { run_id: runId, attempt: 1, state: 'RUNNING', run_status: 'RUNNING' }
    expect((await say(verb, body)).json()).toEqual(kept)
    expect((await say(verb, body)).json()).toEqual(kept)
    expect(hints).toContainEqual({ topic: 'worker:worker-1', runId })
    expect(await store.attempts.jobOutcomes([held])).toMatchObject([{ runId, outcome }])
  })

  it('hears how its attempt ended when it asks again after that', async () => {
    const { start, say, settle, held, runId } = await submitted()
    await start()
    await say('complete', { result: 1 })
    await settle(held, { kind: 'succeed', result: { ref: 'inline', hash: '0'.repeat(64), text: '1' } })
    expect((await say('complete', { result: 1 })).json()).toMatchObject({ run_id: runId, state: 'SUCCEEDED' })
  })
})
