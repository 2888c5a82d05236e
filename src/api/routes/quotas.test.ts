import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MODEL, openTestApi, type TestApi } from '../../../test/support/api.ts'
import { type TestToken, TOKENS_ONLY, testToken } from '../../../test/support/tokens.ts'

const NO_LIMITS = {
  max_concurrent: null,
  runs_per_hour: null,
  runs_per_day: null,
  cost_per_day: null,
  cost_per_month: null,
}

const send = (api: TestApi, method: 'GET' | 'PUT' | 'DELETE' | 'POST', url: string, body?: object, headers = {}) =>
  api.app.inject({
    method,
    url,
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { payload: JSON.stringify(body) }),
  })

const put = (api: TestApi, url: string, body: object, headers = {}) => send(api, 'PUT', url, body, headers)

describe('the rules', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await openTestApi()
  })
  afterAll(() => api.close())

  test('a rule is set, read, replaced, listed and deleted', async () => {
    const made = await put(api, '/quotas/ana?model=forecast', { max_concurrent: 3, cost_per_day: 1.5 })
    expect([made.statusCode, made.json()]).toEqual([
      200,
      {
        ...{ owner: 'ana', model: 'forecast', together: false },
        ...NO_LIMITS,
        ...{ max_concurrent: 3, cost_per_day: 1.5, action: 'block' },
        created_at: expect.any(String),
        updated_at: expect.any(String),
        counted_at: expect.any(String),
        links: { self: '/quotas/ana?model=forecast' },
      },
    ])
    const replaced = (await put(api, made.json().links.self, { runs_per_hour: 7, action: 'warn' })).json()
    expect(replaced).toMatchObject({ ...NO_LIMITS, runs_per_hour: 7, action: 'warn' })
    await put(api, '/quotas/*?together=true', { max_concurrent: 100 })
    const listed = (await api.get('/quotas')).json()
    expect(listed.data.map(({ links }: typeof replaced) => links.self)).toEqual([
      '/quotas/*?together=true',
      '/quotas/ana?model=forecast',
    ])
    expect((await api.get('/quotas?owner=ana&limit=1')).json()).toMatchObject({ data: [replaced], next_cursor: null })
    expect((await send(api, 'DELETE', replaced.links.self)).statusCode).toBe(204)
    expect((await send(api, 'DELETE', replaced.links.self)).json()).toMatchObject({ code: 'quota-not-found' })
    expect((await api.get('/quotas/ana?model=forecast')).json()).toMatchObject({ ...NO_LIMITS, action: null })
    expect((await api.get('/quotas/*')).json()).toMatchObject({ status: 404, code: 'quota-not-found' })
    await send(api, 'DELETE', '/quotas/*?together=true')
  })

  test('pages of the list go on where the one before ended', async () => {
    for (const owner of ['a', 'b', 'c']) await put(api, `/quotas/${owner}`, {})
    const first = (await api.get('/quotas?limit=2')).json()
    const second = (await api.get(`/quotas?limit=2&cursor=${first.next_cursor}`)).json()
    expect([...first.data, ...second.data].map(({ owner }) => owner)).toEqual(['a', 'b', 'c'])
    expect(second.next_cursor).toBeNull()
    for (const owner of ['a', 'b', 'c']) await send(api, 'DELETE', `/quotas/${owner}`)
  })

  test('each change is in the audit', async () => {
    await put(api, '/quotas/*?together=true', { max_concurrent: 2 }, { 'holdfast-owner': 'root' })
    await send(api, 'DELETE', '/quotas/*?together=true')
    // There is none any more: nothing is done, and nothing recorded.
    await send(api, 'DELETE', '/quotas/*?together=true')
    const { data } = (await api.get('/audit?limit=2')).json()
    expect(data).toMatchObject([
      { action: 'quota.delete', target: '* together' },
      { action: 'quota.put', target: '* together', actor_owner: 'root', data: { max_concurrent: 2, action: 'block' } },
    ])
  })

  test.each([
    ['/quotas/ana', { max_concurrent: -1 }, 'invalid-body'],
    ['/quotas/ana', { max_concurrent: 1.5 }, 'invalid-body'],
    ['/quotas/ana', { max_concurent: 1 }, 'invalid-body'],
    ['/quotas/ana', { action: 'ignore' }, 'invalid-body'],
    ['/quotas/ana?together=true', {}, 'invalid-query'],
    ['/quotas/ana?together=maybe', {}, 'invalid-query'],
    ['/quotas/ana?model=%20', {}, 'invalid-query'],
    ['/quotas/%C3%BC', {}, 'not-found'],
  ])('PUT %s %j is refused', async (url, body, code) => {
    const answer = await put(api, url, body)
    expect(answer.json().code).toBe(code)
  })
})

describe('who may', () => {
  let api: TestApi
  let tokens: Record<'viewer' | 'operator' | 'admin' | 'bob', TestToken>
  beforeAll(async () => {
    api = await openTestApi({ config: { access: TOKENS_ONLY } })
    const [viewer, operator, admin] = await Promise.all(
      (['viewer', 'operator', 'admin'] as const).map((role) => testToken(api.store, role)),
    )
    const bob = await testToken(api.store, 'submitter', { owner: 'bob' })
    tokens = { viewer: viewer!, operator: operator!, admin: admin!, bob }
    await put(api, '/quotas/alice', { max_concurrent: 2 }, admin!.headers)
    await put(api, '/quotas/bob', { max_concurrent: 3 }, admin!.headers)
    await put(api, '/quotas/*?together=true', { max_concurrent: 9 }, admin!.headers)
    await api.create({ dedupe: 'off' }, bob.headers)
  })
  afterAll(() => api.close())

  test('an owner reads its own quota, with the ceilings of everyone that apply, and nobody else’s', async () => {
    const own = await api.get('/quotas/alice', tokens.viewer.headers)
    expect(own.json()).toMatchObject({
      max_concurrent: 2,
      usage: [
        { rule: { owner: 'alice' }, maximum: 2, used: 0, binds: true },
        { rule: { owner: '*', together: true }, maximum: 9, used: 1, binds: false },
      ],
    })
    for (const other of ['bob', '*', 'nobody']) {
      const answer = await api.get(`/quotas/${other}?model=forecast`, tokens.viewer.headers)
      expect(answer.json()).toMatchObject({ status: 404, code: 'quota-not-found' })
    }
  })

  test('a list shows an owner its own rules, and operators all', async () => {
    const ownersFor = async (token: TestToken, query = '') =>
      (await api.get(`/quotas${query}`, token.headers)).json().data.map(({ owner }: { owner: string }) => owner)
    expect(await ownersFor(tokens.viewer)).toEqual(['alice'])
    expect(await ownersFor(tokens.viewer, '?owner=bob')).toEqual([])
    expect(await ownersFor(tokens.operator)).toEqual(['*', 'alice', 'bob'])
    expect((await api.get('/quotas/bob', tokens.operator.headers)).json()).toMatchObject({ max_concurrent: 3 })
  })

  test('only administrators write', async () => {
    for (const token of [tokens.bob, tokens.operator]) {
      const answer = await put(api, '/quotas/bob', { max_concurrent: 99 }, token.headers)
      expect(answer.json()).toMatchObject({ code: 'forbidden', needed_role: 'admin' })
    }
    expect((await send(api, 'DELETE', '/quotas/bob', undefined, tokens.operator.headers)).statusCode).toBe(403)
  })

  test('a refusal names no run of another owner, except to operators', async () => {
    await put(api, '/quotas/*?together=true', { max_concurrent: 1 }, tokens.admin.headers)
    const alice = await testToken(api.store, 'submitter')
    const answer = await api.submit({ model: 'forecast', parameters: { scenario: 'x' } }, alice.headers)
    expect(answer.json()).toMatchObject({ code: 'quota-exceeded', used: 1, holders: [] })
    expect(answer.json().rule).toMatchObject({ owner: '*', together: true })
    const holders = [(await api.get('/runs', tokens.bob.headers)).json().data[0].run_id]
    const asked = { model: 'forecast', parameters: { scenario: 'y' } }
    expect((await api.submit(asked, tokens.operator.headers)).json()).toMatchObject({ used: 1, holders })
    const reserved = await send(api, 'POST', '/reservations', {}, tokens.operator.headers)
    expect(reserved.json()).toMatchObject({ code: 'quota-exceeded', holders })
    await put(api, '/quotas/*?together=true', { max_concurrent: 9 }, tokens.admin.headers)
  })
})

describe('a submit', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await openTestApi({ models: [MODEL, { ...MODEL, name: 'costly', cost: { estimate: 4 } }] })
  })
  afterAll(() => api.close())

  let owners = 0
  /** An owner that no other test has. */
  function newOwner() {
    owners += 1
    return { owner: `owner-${owners}`, as: { 'holdfast-owner': `owner-${owners}` } }
  }
  /** Frees its place. */
  const cancel = (runId: string) => send(api, 'POST', `/runs/${runId}/cancel`)
  const refusals = async () => {
    const { body } = await api.get('/metrics')
    return Number(/quota_refusals_total{limit="max_concurrent"} (\d+)/.exec(body)?.[1])
  }

  test('over the limit is 403 with the text, the rule and what holds it, and leaves nothing behind', async () => {
    const { as } = newOwner()
    await put(api, '/quotas/*', { max_concurrent: 1 })
    const [before, refusedBefore] = [await api.stored(), await refusals()]
    const held = await api.create({ dedupe: 'off' }, as)
    const refused = await api.submit(
      { model: 'forecast', parameters: { scenario: 'b' } },
      { ...as, 'idempotency-key': 'k' },
    )
    expect(refused.headers['content-type']).toBe('application/problem+json')
    expect(refused.headers['retry-after']).toBeUndefined()
    expect(refused.json()).toMatchObject({
      status: 403,
      code: 'quota-exceeded',
      detail: 'Quota exceeded: Maximum 1 concurrent runs allowed',
      retryable: false,
      rule: { owner: '*', model: null, together: false },
      limit: 'max_concurrent',
      maximum: 1,
      used: 1,
      holders: [held.run_id],
    })
    expect(await api.stored()).toEqual({ runs: before.runs + 1, keys: before.keys })
    expect(await refusals()).toBe(refusedBefore + 1)
    await cancel(held.run_id)
    await api.create({ dedupe: 'off' }, as)
    await send(api, 'DELETE', '/quotas/*')
  })

  test.each([
    ['runs_per_hour', 'Quota exceeded: Maximum 1 runs per hour allowed'],
    ['runs_per_day', 'Quota exceeded: Maximum 1 runs per day allowed'],
  ])('over %s is told as %s', async (limit, detail) => {
    const { owner, as } = newOwner()
    await put(api, `/quotas/${owner}`, { [limit]: 1 })
    await cancel((await api.create({ dedupe: 'off' }, as)).run_id)
    const refused = (await api.submit({ model: 'forecast', parameters: { scenario: 'b' } }, as)).json()
    expect(refused).toMatchObject({ status: 403, code: 'quota-exceeded', detail, limit, maximum: 1, used: 1 })
  })

  test('from 80 % on success carries a warning, and a repeat does not', async () => {
    const { owner, as } = newOwner()
    await put(api, `/quotas/${owner}`, { max_concurrent: 5 })
    const answers = []
    for (const scenario of ['0', '1', '2', '3', '4']) answers.push(await api.create({ parameters: { scenario } }, as))
    expect(answers.map((one) => one.quota_warnings)).toEqual([
      ...Array(3).fill([]),
      ['Quota warning: 4 of 5 concurrent runs used'],
      ['Quota warning: 5 of 5 concurrent runs used'],
    ])
    expect(new Set(answers.map((one) => one.cost_limit_warning))).toEqual(new Set([null]))
    const again = await api.create({ parameters: { scenario: '4' } }, as)
    expect(again).toMatchObject({ idempotent_hit: true, quota_warnings: [], cost_limit_warning: null })
    expect((await api.get(`/runs/${again.run_id}`)).json()).not.toHaveProperty('quota_warnings')
  })

  test('where the rule only warns, a run over the limit is accepted and told so', async () => {
    const { owner, as } = newOwner()
    await put(api, `/quotas/${owner}`, { max_concurrent: 1, action: 'warn' })
    await api.create({ dedupe: 'off' }, as)
    expect(await api.create({ dedupe: 'off' }, as)).toMatchObject({
      status: 'PENDING',
      quota_warnings: ['Quota warning: 2 of 1 concurrent runs used, which is over the limit'],
    })
  })

  test('where the rule asks for approval, a run over the limit is accepted and says what it waits for', async () => {
    const { owner, as } = newOwner()
    await put(api, `/quotas/${owner}`, { max_concurrent: 1, action: 'require_approval' })
    await api.create({ dedupe: 'off' }, as)
    const blocked = await api.create({ dedupe: 'off' }, as)
    const rule = { owner, model: null, together: false, limit: 'max_concurrent', maximum: 1, used: 1 }
    expect(blocked).toMatchObject({ status: 'PENDING', available_at: null, waiting: { reason: 'approval', rule } })
    expect((await api.get(`/runs/${blocked.run_id}`)).json()).toMatchObject({ waiting: { reason: 'approval', rule } })
    expect((await send(api, 'POST', `/runs/${blocked.run_id}/approve`)).json()).toMatchObject({
      status: 'PENDING',
      available_at: expect.any(String),
    })
  })

  test('limits of cost are told apart from those of runs', async () => {
    const { owner, as } = newOwner()
    await put(api, `/quotas/${owner}`, { cost_per_day: 10 })
    const costly = (scenario: string) => ({ model: 'costly', parameters: { scenario } })
    const answers = [await api.create(costly('a'), as), await api.create(costly('b'), as)]
    expect(answers.map((one) => [one.quota_warnings, one.cost_limit_warning])).toEqual([
      [[], null],
      [[], 'Cost limit warning: 8 of 10 cost per day used'],
    ])
    const refused = (await api.submit(costly('c'), as)).json()
    expect(refused).toMatchObject({
      status: 403,
      code: 'cost-limit-exceeded',
      detail: expect.stringMatching(/^Cost limit exceeded: Maximum 10\b.* per day allowed/),
      retryable: false,
      rule: { owner, model: null, together: false },
      ...{ limit: 'cost_per_day', maximum: 10, used: 8 },
    })
    expect((await api.get(`/quotas/${owner}`)).json().usage).toMatchObject([
      { limit: 'cost_per_day', used: 8, maximum: 10, binds: true, sources: { runs: null, held: 8, settled: 0 } },
    ])
    expect((await api.get('/metrics')).body).toContain('quota_refusals_total{limit="cost_per_day"} 1')
  })

  test('items of a batch are admitted in their order, each with its own answer', async () => {
    const { owner, as } = newOwner()
    await put(api, `/quotas/${owner}`, { max_concurrent: 2 })
    const runs = ['a', 'b', 'c'].map((scenario) => ({ model: 'forecast', parameters: { scenario } }))
    const refusedBefore = await refusals()
    const { data } = (await send(api, 'POST', '/runs/batch', { runs }, as)).json()
    expect(data.map(({ status }: { status: number }) => status)).toEqual([201, 201, 403])
    expect(data[1].run.quota_warnings).toEqual(['Quota warning: 2 of 2 concurrent runs used'])
    expect(data[2]).toMatchObject({
      run: null,
      problem: { code: 'quota-exceeded', detail: 'Quota exceeded: Maximum 2 concurrent runs allowed', used: 2 },
    })
    expect(await refusals()).toBe(refusedBefore + 1)
  })

  test('of an owner without rules has no warnings', async () => {
    const { as } = newOwner()
    expect(await api.create({}, as)).toMatchObject({ quota_warnings: [], cost_limit_warning: null })
    const runs = [{ model: 'forecast', parameters: { scenario: 'z' } }]
    const { data } = (await send(api, 'POST', '/runs/batch', { runs }, as)).json()
    expect(data[0].run).toMatchObject({ quota_warnings: [], cost_limit_warning: null })
  })

  test('usage tells its sources, and which rule binds', async () => {
    const { owner, as } = newOwner()
    await put(api, `/quotas/${owner}`, { max_concurrent: 5, runs_per_hour: 10 })
    await put(api, `/quotas/${owner}?model=forecast`, { max_concurrent: 3 })
    await api.create({ dedupe: 'off' }, as)
    await send(api, 'POST', '/reservations', {}, as)
    const quota = (await api.get(`/quotas/${owner}?model=forecast`)).json()
    expect(quota).toMatchObject({ model: 'forecast', max_concurrent: 3, action: 'block' })
    const summary = quota.usage.map(({ rule, limit, used, maximum, binds, sources }: (typeof quota.usage)[number]) => [
      rule.model,
      limit,
      `${used}/${maximum}`,
      binds,
      sources.runs,
      sources.reservations,
    ])
    expect(summary).toContainEqual([null, 'max_concurrent', '2/5', false, 1, 1])
    expect(summary).toContainEqual([null, 'runs_per_hour', '2/10', true, 1, 1])
    expect(summary.find(([model]: unknown[]) => model === 'forecast')).toEqual([
      'forecast',
      'max_concurrent',
      '1/3',
      true,
      1,
      0,
    ])
  })
})
