/**
 * Every route × every role × every owner, over real connections, with what each must answer. The table names each route with the role
 * it needs and what it does with things that belong to others; a route that is not in it, or not as declared, fails the test.
 */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApi, type TestApi } from '../../test/support/api.ts'
import { addDeliveries, addWebhook } from '../../test/support/new-delivery.ts'
import { revokedToken, type TestToken, TOKENS_ONLY, testToken } from '../../test/support/tokens.ts'
import type { Role } from './api.ts'
import { hashOf, makeToken } from './token-text.ts'

/**
 * `run`, `file`, `bulk`, `batch`, `upload`, `reservation`, `delivery`, `view`, `webhook` and `recipient`: the path names one, and another owner's is absent. `own`: answers with what the caller may see. `feed`: the same, without
 * an end. `shared`: about things that belong to no owner, or a route for those who see everything.
 */
type Kind =
  | 'run'
  | 'file'
  | 'bulk'
  | 'batch'
  | 'upload'
  | 'reservation'
  | 'delivery'
  | 'view'
  | 'webhook'
  | 'recipient'
  | 'own'
  | 'feed'
  | 'shared'

const ROUTES: Record<string, [Role, Kind, { query?: string; body?: object }?]> = {
  'POST /runs': ['submitter', 'own'],
  'GET /runs': ['viewer', 'own'],
  'GET /runs/:id': ['viewer', 'run'],
  'GET /runs/:id/result': ['viewer', 'run'],
  'POST /runs/:id/cancel': ['submitter', 'run'],
  'POST /runs/:id/approve': ['operator', 'shared'],
  'POST /runs/:id/reject': ['operator', 'shared'],
  'POST /runs/:id/retry': ['submitter', 'run'],
  'POST /runs/batch': ['submitter', 'own'],
  'GET /runs/:id/events': ['viewer', 'run'],
  'GET /runs/:id/attempts': ['viewer', 'run'],
  'GET /runs/:id/steps': ['viewer', 'run'],
  'GET /runs/:id/logs': ['viewer', 'run'],
  'GET /runs/:id/artifacts': ['viewer', 'run'],
  'GET /runs/:id/places': ['viewer', 'run'],
  'GET /runs/:id/retries': ['viewer', 'run'],
  'GET /runs/:id/artifacts/:attempt/:name': ['viewer', 'run'],
  'POST /files': ['submitter', 'own'],
  // As with DELETE, the file is the caller's own or that of the owner it names.
  'POST /files/:id/uploads': ['submitter', 'own'],
  'GET /files': ['viewer', 'own'],
  'GET /files/:id': ['viewer', 'file'],
  // An operator gives up its own file, and that of another owner when it names that owner.
  'DELETE /files/:id': ['submitter', 'own'],
  'GET /events': ['viewer', 'feed'],
  'POST /bulk': ['submitter', 'own'],
  'GET /bulk': ['viewer', 'own'],
  'GET /bulk/:id': ['viewer', 'bulk'],
  'GET /bulk/:id/items': ['viewer', 'bulk'],
  'POST /bulk/:id/cancel': ['submitter', 'bulk'],
  'GET /batches': ['viewer', 'own'],
  'POST /batches': ['submitter', 'own'],
  'GET /batches/:id': ['viewer', 'batch'],
  'GET /batches/:id/events': ['viewer', 'batch'],
  'OPTIONS /uploads': ['public', 'shared'],
  'POST /uploads': ['submitter', 'own'],
  'GET /uploads/:id': ['viewer', 'upload'],
  'PATCH /uploads/:id': ['submitter', 'upload'],
  'DELETE /uploads/:id': ['submitter', 'upload'],
  'GET /failures': ['viewer', 'own', { query: '?model=forecast' }],
  'POST /views': ['viewer', 'own'],
  'GET /views': ['viewer', 'own'],
  'GET /views/:id': ['viewer', 'view'],
  'PUT /views/:id': ['viewer', 'view', { body: { name: 'replaced', filter: {} } }],
  'DELETE /views/:id': ['viewer', 'view'],
  'POST /webhooks': ['submitter', 'own'],
  'GET /webhooks': ['viewer', 'own'],
  'GET /webhooks/:id': ['viewer', 'webhook'],
  'PATCH /webhooks/:id': ['submitter', 'webhook'],
  'DELETE /webhooks/:id': ['submitter', 'webhook'],
  'POST /webhooks/:id/rotate-secret': ['submitter', 'webhook'],
  'POST /webhooks/:id/test': ['submitter', 'webhook'],
  'GET /models': ['viewer', 'shared'],
  'GET /models/:name': ['viewer', 'shared'],
  'PUT /models/:name/:version': ['worker', 'shared'],
  'GET /queues': ['viewer', 'shared'],
  'GET /queues/:queue': ['viewer', 'shared'],
  'PUT /queues/:queue': ['operator', 'shared'],
  'POST /queues/:queue/pause': ['operator', 'shared'],
  'POST /queues/:queue/resume': ['operator', 'shared'],
  'GET /quotas': ['viewer', 'own'],
  // What it answers to whom is tested with the route.
  'GET /quotas/:owner': ['viewer', 'shared'],
  'PUT /quotas/:owner': ['admin', 'shared'],
  'DELETE /quotas/:owner': ['admin', 'shared'],
  'POST /reservations': ['submitter', 'own'],
  'GET /reservations': ['viewer', 'own'],
  'GET /reservations/:id': ['viewer', 'reservation'],
  'DELETE /reservations/:id': ['submitter', 'reservation'],
  'GET /deliveries': ['viewer', 'own'],
  'GET /deliveries/:id': ['viewer', 'delivery'],
  'POST /deliveries/:id/redeliver': ['submitter', 'delivery'],
  'POST /recipients': ['submitter', 'own'],
  'GET /recipients': ['viewer', 'own'],
  'GET /recipients/:id': ['viewer', 'recipient'],
  'DELETE /recipients/:id': ['submitter', 'recipient'],
  'POST /recipients/:id/test': ['submitter', 'recipient'],
  'GET /unsubscribe': ['public', 'shared'],
  'POST /unsubscribe': ['public', 'shared'],
  'GET /workers': ['operator', 'shared'],
  'GET /stats': ['operator', 'shared'],
  'POST /leases': ['worker', 'shared'],
  'POST /leases/:id/start': ['public', 'shared'],
  'POST /leases/:id/heartbeat': ['public', 'shared'],
  'POST /leases/:id/progress': ['public', 'shared'],
  'POST /leases/:id/steps': ['public', 'shared'],
  'GET /leases/:id/files/:file_id': ['public', 'shared'],
  'POST /leases/:id/logs': ['public', 'shared'],
  'POST /leases/:id/complete': ['public', 'shared'],
  'POST /leases/:id/fail': ['public', 'shared'],
  'POST /leases/:id/release': ['public', 'shared'],
  'POST /tokens': ['admin', 'shared'],
  'GET /tokens': ['admin', 'shared'],
  'DELETE /tokens/:id': ['admin', 'shared'],
  'GET /audit': ['admin', 'shared'],
  'POST /session': ['public', 'shared'],
  'GET /session': ['public', 'shared'],
  'DELETE /session': ['public', 'shared'],
  'GET /livez': ['public', 'shared'],
  'GET /healthz': ['public', 'shared'],
  'GET /readyz': ['public', 'shared'],
  'GET /metrics': ['public', 'shared'],
  'GET /openapi.json': ['public', 'shared'],
  'GET /docs/api': ['public', 'shared'],
  'GET /': ['public', 'shared'],
  'GET /ui': ['public', 'shared'],
  'GET /ui/*': ['public', 'shared'],
}

const ROLES = ['viewer', 'submitter', 'worker', 'operator', 'admin'] as const

/** Written out, so that the rule in the code is not tested with itself. */
const MAY: Record<Role, readonly Role[]> = {
  public: ROLES,
  viewer: ['viewer', 'submitter', 'operator', 'admin'],
  submitter: ['submitter', 'operator', 'admin'],
  worker: ['worker', 'admin'],
  operator: ['operator', 'admin'],
  admin: ['admin'],
}

let api: TestApi
let origin: string
let tokens: Record<(typeof ROLES)[number], TestToken>
let bob: TestToken
let bobsRun: string
let ended: Record<'expired' | 'revoked' | 'unknown', string>

beforeAll(async () => {
  api = await openTestApi({ config: { access: TOKENS_ONLY } })
  origin = await api.app.listen({ host: '127.0.0.1', port: 0 })
  const made = await Promise.all(ROLES.map(async (role) => [role, await testToken(api.store, role)] as const))
  tokens = Object.fromEntries(made) as typeof tokens
  bob = await testToken(api.store, 'submitter', { owner: 'bob-canary' })
  bobsRun = (await api.create({ dedupe: 'off' }, bob.headers)).run_id
  ended = {
    expired: await expiredToken(),
    revoked: (await revokedToken(api.store, 'admin')).text,
    unknown: makeToken(),
  }
})
afterAll(() => api.close())

async function expiredToken(): Promise<string> {
  const text = makeToken()
  await api.db.query(
    `INSERT INTO api_tokens (id, name, token_hash, role, owner, created_by, created_at, expires_at)
     VALUES ($1, 'old', decode($2, 'hex'), 'admin', 'alice', 'test', clock() - interval '2 s', clock() - interval '1 s')`,
    [randomUUID(), hashOf(text)],
  )
  return text
}

/** The answer's head, and its body unless that may have no end. */
async function ask(route: string, { token, id = randomUUID(), body }: { token?: string; id?: string; body?: object }) {
  const [method = '', url = ''] = route.split(' ')
  const more = ROUTES[route]?.[2]
  const isUnsafe = method !== 'GET' && method !== 'HEAD'
  const stop = new AbortController()
  const answer = await fetch(`${origin}${url.replace(/:\w+/g, id)}${more?.query ?? ''}`, {
    method,
    signal: stop.signal,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(isUnsafe && { 'content-type': 'application/json' }),
    },
    ...(isUnsafe && { body: JSON.stringify(body ?? more?.body ?? {}) }),
  })
  const isJson = /json/.test(answer.headers.get('content-type') ?? '')
  const text = isJson || method === 'HEAD' ? await answer.text() : ''
  stop.abort()
  return {
    status: answer.status,
    text,
    problem: answer.status >= 400 ? JSON.parse(text || '{}') : {},
    headers: answer.headers,
  }
}

const routesOf = (kind: Kind) => Object.keys(ROUTES).filter((route) => ROUTES[route]![1] === kind)

test('the table names every route there is, with the role it declares', () => {
  const registered = api.app.registeredRoutes
    .filter(({ method }) => method !== 'HEAD')
    .map(({ method, url, role }) => [`${method} ${url}`, role])
  expect(Object.fromEntries(registered)).toEqual(
    Object.fromEntries(Object.entries(ROUTES).map(([route, [role]]) => [route, role])),
  )
})

describe.each(Object.entries(ROUTES))('%s', (route, [needed]) => {
  test.each(ROLES)(`with the role %s`, async (role) => {
    const answer = await ask(route, { token: tokens[role].text })
    if (MAY[needed].includes(role)) {
      expect(answer.status).not.toBe(401)
      expect(answer.problem.code).not.toBe('forbidden')
      expect(answer.status).toBeLessThan(500)
    } else {
      expect(answer).toMatchObject({ status: 403, problem: { code: 'forbidden', needed_role: needed } })
    }
  })

  test('without a token', async () => {
    const { status, problem, headers } = await ask(route, {})
    if (needed === 'public') expect(problem.detail ?? '').not.toContain('needs an access token')
    else expect({ status, code: problem.code, ask: headers.get('www-authenticate') }).toEqual(CHALLENGE)
  })

  test.each(['expired', 'revoked', 'unknown'] as const)('with an administrator token that is %s', async (state) => {
    const { status, problem, headers } = await ask(route, { token: ended[state] })
    if (needed === 'public') expect(problem.detail ?? '').not.toContain('access token')
    else expect({ status, code: problem.code, ask: headers.get('www-authenticate') }).toEqual(CHALLENGE)
  })
})

/** Something of bob's, made anew. The bulk operation is of a tag that no run has, so that it touches none. */
const MAKE: Record<string, () => Promise<string>> = {
  run: async () => (await api.create({ dedupe: 'off' }, bob.headers)).run_id,
  file: makeBobsFile,
  bulk: () => makeBobs('POST /bulk', { action: 'cancel', filter: { tag: ['no-such-tag'] } }, 'operation_id'),
  batch: () => makeBobs('POST /batches', {}, 'batch_id'),
  upload: makeBobsUpload,
  reservation: () => makeBobs('POST /reservations', {}, 'reservation_id'),
  delivery: makeBobsDelivery,
  recipient: () => makeBobs('POST /recipients', { address: `${randomUUID()}@example.org` }, 'recipient_id'),
  view: () => makeBobs('POST /views', { name: randomUUID(), filter: {} }, 'view_id'),
  webhook: () =>
    makeBobs('POST /webhooks', { url: 'https://hooks.example.org/', events: ['run.failed'] }, 'webhook_id'),
}

async function makeBobsFile(): Promise<string> {
  const { text } = await ask('POST /files', { token: bob.text, body: { only: randomUUID() } })
  return JSON.parse(text).data[0].file_id
}

async function makeBobsUpload(): Promise<string> {
  const id = randomUUID()
  const [owner, metadata] = ['bob-canary', {}]
  await api.store.resumableUploads.create({ id, owner, bytes: 5, metadata, ttlSeconds: 60, openMax: 100 })
  return id
}

async function makeBobsDelivery(): Promise<string> {
  const hook = await addWebhook(api.store, { owner: 'bob-canary' })
  return (await addDeliveries(api.db, hook, { state: 'DEAD' }))[0]!
}

async function makeBobs(route: string, body: object, name: string): Promise<string> {
  return JSON.parse((await ask(route, { token: bob.text, body })).text)[name]
}

/** `file-not-found` is said of a parameter. */
const absentCode = (kind: Kind) => (kind === 'file' ? 'no-such-file' : `${kind}-not-found`)

describe.each(Object.keys(MAKE).flatMap((kind) => routesOf(kind as Kind)))('what %s names', (route) => {
  const [needed, kind] = ROUTES[route]!

  test('is absent for another owner, in the words for what is', async () => {
    const token = tokens[needed === 'submitter' ? 'submitter' : 'viewer'].text
    const [id, absent] = [await MAKE[kind]!(), randomUUID()]
    const [others, none] = [await ask(route, { token, id }), await ask(route, { token, id: absent })]
    expect(others).toMatchObject({ status: 404, problem: { code: absentCode(kind) } })
    expect({ ...others.problem, instance: '' }).toEqual(
      JSON.parse(JSON.stringify({ ...none.problem, instance: '' }).replaceAll(absent, id)),
    )
    if (kind === 'run') expect((await api.get(`/runs/${id}`, bob.headers)).json()).toMatchObject({ status: 'PENDING' })
  })

  test.each(['its owner', 'an operator'])('is found by %s', async (who) => {
    const token = who === 'an operator' ? tokens.operator.text : bob.text
    expect((await ask(route, { token, id: await MAKE[kind]!() })).problem.code).not.toBe(absentCode(kind))
  })
})

test.each(routesOf('own').filter((route) => route.startsWith('GET')))(
  '%s shows nothing of another owner',
  async (route) => {
    const { status, text } = await ask(route, { token: tokens.viewer.text })
    expect(status).toBe(200)
    expect(text).not.toContain('bob-canary')
    expect(text).not.toContain(bobsRun)
  },
)

test('HEAD asks for the role that GET asks for', async () => {
  const heads = api.app.registeredRoutes.filter(({ method }) => method === 'HEAD')
  for (const { url, role } of heads) {
    expect(role).toBe(ROUTES[`GET ${url}`]![0])
    if (role !== 'public') expect((await ask(`HEAD ${url}`, {})).status).toBe(401)
  }
})

const CHALLENGE = { status: 401, code: 'unauthorized', ask: 'Bearer realm="holdfast"' }

test.each(routesOf('feed'))('%s tells nothing of another owner', async (route) => {
  const stop = new AbortController()
  const answer = await fetch(`${origin}${route.split(' ')[1]}`, {
    signal: stop.signal,
    headers: { ...tokens.viewer.headers, accept: 'text/event-stream' },
  })
  const others = await api.create({ dedupe: 'off' }, bob.headers)
  const mine = await api.create({ dedupe: 'off' }, tokens.submitter.headers)
  let seen = ''
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    seen += chunk
    if (seen.includes(mine.run_id)) break
  }
  stop.abort()
  expect(seen).not.toContain(others.run_id)
})

describe('whose runs a request makes', () => {
  const make = (token: TestToken, owner?: string) =>
    api.submit(
      { model: 'forecast', parameters: { scenario: 'x' }, dedupe: 'off' },
      { ...token.headers, ...(owner && { 'holdfast-owner': owner }) },
    )

  test('those of the owner of the token', async () => {
    expect((await make(bob)).json().owner).toBe('bob-canary')
  })

  test.each(['operator', 'admin'] as const)('the role %s may name another owner', async (role) => {
    expect((await make(tokens[role], 'dora')).json().owner).toBe('dora')
    expect((await make(tokens[role])).json().owner).toBe('alice')
  })

  test('a submitter may name itself and nobody else', async () => {
    expect((await make(tokens.submitter, 'alice')).json().owner).toBe('alice')
    expect((await make(tokens.submitter, 'bob-canary')).json()).toMatchObject({
      code: 'forbidden',
      needed_role: 'operator',
    })
  })

  test('one key of two owners leads to two runs', async () => {
    const send = (token: TestToken) => api.create({}, { ...token.headers, 'idempotency-key': 'same' })
    expect((await send(bob)).run_id).not.toBe((await send(tokens.submitter)).run_id)
  })

  test('a malformed owner is refused', async () => {
    expect((await make(tokens.admin, 'ü')).json().code).toBe('invalid-header')
  })
})
