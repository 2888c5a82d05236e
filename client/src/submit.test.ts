import { expect, test, vi } from 'vitest'
import {
  answers,
  breaksOff,
  loses,
  refuses,
  type ScriptedServer,
  saysNothing,
  scriptedServer,
} from '../../test/support/scripted-http.ts'
import { stepClock } from '../../test/support/step-clock.ts'
import { wireRun } from '../../test/support/wire-run.ts'
import {
  Conflict,
  CostLimitExceeded,
  Holdfast,
  HoldfastError,
  type HoldfastOptions,
  MaxRetriesExceeded,
  QuotaExceeded,
  RunCancelled,
  RunFailed,
  Timeout,
  Transient,
} from './index.ts'

const accepted = (more: object = {}, status = 201) => answers(status, { ...wireRun(), idempotent_hit: false, ...more })

function open(server: ScriptedServer, options: Partial<HoldfastOptions> = {}) {
  const clock = stepClock()
  return { client: new Holdfast({ url: server.url, clock, ...options }), clock }
}

const thrownBy = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable('it did not throw'),
    (error) => error,
  )

const keysOf = ({ seen }: ScriptedServer) => seen.map((request) => request.json().idempotency_key)

test('a submit says what it was given, under a key of its own', async () => {
  const server = await scriptedServer(accepted())
  const { client } = open(server, { token: 'hf_t', owner: 'ana' })
  const availableAt = new Date('2030-01-01T00:00:00Z')
  const submitted = await client.submit('forecast', { a: 1 }, { priority: 5, tags: ['x'], availableAt, maxAttempts: 2 })
  expect(server.seen[0]).toMatchObject({
    method: 'POST',
    path: '/runs',
    headers: { authorization: 'Bearer hf_t', 'holdfast-owner': 'ana', 'content-type': 'application/json' },
  })
  expect(server.seen[0]!.json()).toEqual({
    model: 'forecast',
    parameters: { a: 1 },
    idempotency_key: expect.stringMatching(/^client-[0-9a-f]{32}$/),
    priority: 5,
    tags: ['x'],
    available_at: '2030-01-01T00:00:00.000Z',
    max_attempts: 2,
  })
  expect(submitted).toMatchObject({
    runId: wireRun().run_id,
    wasDuplicate: false,
    warnings: [],
    key: keysOf(server)[0],
    run: { status: 'PENDING' },
  })
})

test('R406: each call has a new key, and the caller may bring one', async () => {
  const server = await scriptedServer(accepted(), accepted(), accepted({ idempotent_hit: true }, 200))
  const { client } = open(server)
  await client.submit('forecast', {})
  await client.submit('forecast', {})
  const mine = await client.submit('forecast', {}, { idempotencyKey: 'mine' })
  expect(new Set(keysOf(server)).size).toBe(3)
  expect(keysOf(server)[2]).toBe('mine')
  expect(mine).toMatchObject({ key: 'mine', wasDuplicate: true })
})

test.each(['', 'ä', 'a\nb', 'x'.repeat(256)])(
  'a key the service cannot take is refused before anything is sent: %j',
  async (key) => {
    const server = await scriptedServer()
    await expect(open(server).client.submit('forecast', {}, { idempotencyKey: key })).rejects.toThrow(TypeError)
    expect(server.seen).toEqual([])
  },
)

test('R406, R407: after resets, gateway errors and a broken reply it is sent again after 1, 2 and 4 seconds with the same bytes', async () => {
  const server = await scriptedServer(
    loses(),
    answers(502, '<html>bad gateway</html>'),
    breaksOff('{"run_id":'),
    accepted(),
  )
  const { client, clock } = open(server)
  await client.submit('forecast', { a: 1 })
  expect(clock.slept).toEqual([1000, 2000, 4000])
  expect(server.seen).toHaveLength(4)
  expect(new Set(server.seen.map(({ text }) => text)).size).toBe(1)
})

test.each([429, 502, 503, 504])('%i is sent again', async (status) => {
  const server = await scriptedServer(refuses(status, 'busy'), accepted())
  const { client, clock } = open(server)
  await client.submit('forecast', {})
  expect(clock.slept).toEqual([1000])
})

test('a reply lost after the run was stored makes no second run', async () => {
  const runs = new Map<string, string>()
  const store = (seen: { json(): { idempotency_key: string } }) => {
    const { idempotency_key: key } = seen.json()
    const isHit = runs.has(key)
    if (!isHit) runs.set(key, wireRun().run_id)
    return isHit
  }
  const server = await scriptedServer(
    loses((seen) => void store(seen)),
    (seen, response) => accepted({ idempotent_hit: store(seen) })(seen, response),
  )
  const submitted = await open(server).client.submit('forecast', {})
  expect(runs.size).toBe(1)
  expect(submitted).toMatchObject({ runId: [...runs.values()][0], wasDuplicate: true })
})

test('R411: a timeout is sent again, and then says that the run may exist and with which key to ask', async () => {
  const server = await scriptedServer()
  server.otherwise(saysNothing)
  const { client, clock } = open(server, { timeoutMs: 30 })
  const error = await thrownBy(client.submit('forecast', {}))
  expect(clock.slept).toEqual([1000, 2000, 4000])
  expect(error).toBeInstanceOf(Timeout)
  expect(error).toBeInstanceOf(MaxRetriesExceeded)
  const [key] = keysOf(server)
  expect(new Set(keysOf(server)).size).toBe(1)
  expect(error).toMatchObject({ name: 'Timeout', key, attempts: 4, status: null })
  expect(error.message).toContain(`the run may exist: ask again with key ${key}`)
})

test('a reply that stops in the middle is a timeout too', async () => {
  const server = await scriptedServer((_seen, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"run_id":')
  })
  const error = await thrownBy(open(server, { timeoutMs: 50, retries: 0 }).client.submit('forecast', {}))
  expect(error).toMatchObject({ name: 'Timeout', attempts: 1 })
})

test('R409: a service that stays busy is MaxRetriesExceeded, which is Transient, with the last refusal inside', async () => {
  const server = await scriptedServer()
  server.otherwise(refuses(503, 'busy'))
  const error = await thrownBy(open(server).client.submit('forecast', {}))
  expect(error).toBeInstanceOf(MaxRetriesExceeded)
  expect(error).toBeInstanceOf(Transient)
  expect(error).toMatchObject({ name: 'MaxRetriesExceeded', attempts: 4, status: 503, code: 'busy' })
  expect(error.message).not.toContain('may exist')
  expect(error.cause).toBeInstanceOf(Transient)
})

test('nobody there is MaxRetriesExceeded with the reason', async () => {
  const { client, clock } = open({ url: 'http://127.0.0.1:1' } as ScriptedServer)
  const error = await thrownBy(client.submit('forecast', {}, { idempotencyKey: 'k' }))
  expect(error).toMatchObject({ name: 'MaxRetriesExceeded', attempts: 4, status: null, key: 'k' })
  expect(error.message).toContain('ask again with key k')
  expect(clock.slept).toEqual([1000, 2000, 4000])
})

test('Retry-After in seconds or as a date makes the wait longer, never shorter', async () => {
  const busy = (retryAfter: string) => refuses(429, 'rate-limited', { 'retry-after': retryAfter })
  const server = await scriptedServer(
    busy('7'),
    busy('0'),
    busy(new Date(1_000_000 + 9_000 + 30_000).toUTCString()),
    accepted(),
  )
  const { client, clock } = open(server)
  await client.submit('forecast', {})
  expect(clock.slept).toEqual([7000, 2000, 30_000])
})

test('a Retry-After of an hour is told, not sat out', async () => {
  const server = await scriptedServer(refuses(429, 'rate-limited', { 'retry-after': '3600' }))
  const { client, clock } = open(server)
  const error = await thrownBy(client.submit('forecast', {}))
  expect(error).toMatchObject({ name: 'MaxRetriesExceeded', retryAfterMs: 3_600_000, attempts: 1 })
  expect(clock.slept).toEqual([])
})

test.each([
  [403, 'quota-exceeded', QuotaExceeded],
  [429, 'quota-exceeded', QuotaExceeded],
  [403, 'cost-limit-exceeded', CostLimitExceeded],
  [409, 'idempotency-key-reused', Conflict],
  [400, 'invalid-body', HoldfastError],
  [401, 'unauthorized', HoldfastError],
  [404, 'unknown-model', HoldfastError],
  [500, 'internal-error', HoldfastError],
])('R409: %i %s is thrown at once', async (status, code, kind) => {
  const server = await scriptedServer(refuses(status, code))
  const { client, clock } = open(server)
  const error = await thrownBy(client.submit('forecast', {}))
  expect(error.constructor).toBe(kind)
  expect(error).toMatchObject({ status, code, problem: { detail: `It is ${code}.` } })
  expect(error.message).toContain(`It is ${code}.`)
  expect(server.seen).toHaveLength(1)
  expect(clock.slept).toEqual([])
})

test('the places that are at fault are in the message', async () => {
  const errors = [{ pointer: '/parameters/months', detail: 'must be >= 1' }]
  const server = await scriptedServer(refuses(422, 'invalid-parameters', {}, { errors }))
  const error = await thrownBy(open(server).client.submit('forecast', {}))
  expect(error.message).toContain('/parameters/months: must be >= 1')
})

test('R414: warnings are in the answer and given to onWarning', async () => {
  const warned = { quota_warnings: ['4 of 5 runs', 'almost'], cost_limit_warning: '90 % of the month' }
  const server = await scriptedServer(accepted(warned), accepted({ cost_limit_warning: null }))
  const onWarning = vi.fn()
  const { client } = open(server, { onWarning })
  const submitted = await client.submit('forecast', {})
  expect(submitted.warnings).toEqual(['4 of 5 runs', 'almost', '90 % of the month'])
  expect(onWarning.mock.calls).toEqual(submitted.warnings.map((warning) => [warning, submitted]))
  expect((await client.submit('forecast', {})).warnings).toEqual([])
})

test('an abort ends a call that waits for its answer, and one that waits to be sent again', async () => {
  const reason = new Error('enough')
  const controller = new AbortController()
  const server = await scriptedServer(() => controller.abort(reason))
  const { client, clock } = open(server)
  expect(await thrownBy(client.submit('forecast', {}, { signal: controller.signal }))).toBe(reason)
  server.plan(refuses(503, 'busy'))
  const later = new AbortController()
  clock.sleep = async () => {
    later.abort(reason)
    later.signal.throwIfAborted()
  }
  expect(await thrownBy(client.submit('forecast', {}, { signal: later.signal }))).toBe(reason)
  expect(await thrownBy(client.submit('forecast', {}, { signal: AbortSignal.abort(reason) }))).toBe(reason)
  expect(server.seen).toHaveLength(2)
})

test('a redirect is not followed and says where it leads', async () => {
  const server = await scriptedServer(answers(308, '', { location: 'https://example.test/' }))
  const error = await thrownBy(open(server).client.submit('forecast', {}))
  expect(error.message).toContain('https://example.test/')
  expect(server.seen).toHaveLength(1)
})

test('an answer that is no JSON asks whether this is the service', async () => {
  const server = await scriptedServer(answers(200, '<html>welcome</html>'))
  const error = await thrownBy(open(server).client.get('x'))
  expect(error).toMatchObject({ name: 'HoldfastError', status: 200 })
})

test('what cannot work is refused when the client is made', () => {
  expect(() => new Holdfast({ url: 'http://u:p@localhost' })).toThrow(TypeError)
  expect(() => new Holdfast({ url: 'http://localhost', token: 'a\nb' })).toThrow(TypeError)
})

test('submitAndWait asks to be held, asks again until the run has ended, and answers its result', async () => {
  const server = await scriptedServer(
    accepted(),
    answers(200, wireRun({ status: 'RUNNING' })),
    answers(200, wireRun({ status: 'SUCCEEDED' })),
    answers(200, { twice: 4 }),
  )
  const { client, clock } = open(server)
  expect(await client.submitAndWait('forecast', { n: 2 })).toEqual({ twice: 4 })
  expect(server.seen.map(({ method, headers }) => [method, headers.prefer])).toEqual([
    ['POST', 'wait=60'],
    ['GET', 'wait=60'],
    ['GET', 'wait=60'],
    ['GET', undefined],
  ])
  // The server did not hold the request, so the client kept a second between two of them.
  expect(clock.slept).toEqual([1000])
})

test('submitAndWait asks once when the answer is there at once', async () => {
  const server = await scriptedServer(accepted({ ...wireRun({ status: 'SUCCEEDED' }) }), answers(200, 'null'))
  expect(await open(server).client.submitAndWait('forecast', {})).toBeNull()
  expect(server.seen).toHaveLength(2)
})

test('submitAndWait throws what the run ended with', async () => {
  const last_error = { class: 'Boom', message: 'no luck', attempt: 3 }
  const server = await scriptedServer(
    accepted(wireRun({ status: 'FAILED', last_error })),
    accepted(wireRun({ status: 'CANCELLED' })),
  )
  const { client } = open(server)
  const failed = await thrownBy(client.submitAndWait('forecast', {}))
  expect(failed).toBeInstanceOf(RunFailed)
  expect(failed).toMatchObject({ code: 'run-failed', runId: wireRun().run_id, run: { last_error } })
  expect(failed.message).toContain('Boom: no luck (attempt 3)')
  expect(await thrownBy(client.submitAndWait('forecast', {}))).toBeInstanceOf(RunCancelled)
})

test('submitAndWait gives up after waitMs, and says that the run goes on', async () => {
  const server = await scriptedServer(accepted())
  server.otherwise(answers(200, wireRun({ status: 'RUNNING' })))
  const { client } = open(server)
  const error = await thrownBy(client.submitAndWait('forecast', {}, { waitMs: 3_500, idempotencyKey: 'k' }))
  expect(error).toBeInstanceOf(Timeout)
  expect(error).toMatchObject({ runId: wireRun().run_id, key: 'k' })
  expect(error.message).toContain('still RUNNING after 3.5 s and goes on: ask again with key k')
})

test('a result that is not there says why', async () => {
  const server = await scriptedServer(
    refuses(409, 'run-not-complete'),
    refuses(409, 'run-failed'),
    refuses(409, 'run-cancelled'),
  )
  const { client } = open(server)
  expect((await thrownBy(client.result('r'))).constructor).toBe(Conflict)
  expect(await thrownBy(client.result('r'))).toMatchObject({ name: 'RunFailed', runId: 'r' })
  expect(await thrownBy(client.result('r'))).toMatchObject({ name: 'RunCancelled', runId: 'r' })
})
