/** What is sensitive never leaves: not in answers, lists, problems or logs. It comes back true in a run derived from its own. */

import { describe, expect, test } from 'vitest'
import { API_CONFIG, createTestApi, MODEL, type TestApi, type TestApiOptions } from '../../../test/support/api.ts'
import { REDACTED } from '../../run/redaction.ts'

const CANARY = 'canary-7351'
const PARAMETERS = { scenario: 's', api_key: CANARY, note: { deep: [{ authToken: CANARY }], card: 'visa-1' } }

async function post(api: TestApi, url: string, body: unknown) {
  const payload = typeof body === 'string' ? body : JSON.stringify(body)
  return api.app.inject({ method: 'POST', url, headers: { 'content-type': 'application/json' }, payload })
}

async function storedParameters(api: TestApi, id: string): Promise<unknown> {
  return (await api.db.query('SELECT parameters FROM model_runs WHERE id = $1', [id]))[0]!.parameters
}

test('a canary in sensitive parameters is found nowhere but in the database', async () => {
  const api = await createTestApi()
  const body = { model: 'forecast', parameters: PARAMETERS }
  const { run_id: id } = (await post(api, '/runs', { ...body, idempotency_key: 'k' })).json()
  await post(api, '/runs', { ...body, idempotency_key: 'k' })
  await post(api, '/runs/batch', { runs: [{ ...body, dedupe: 'off' }, { ...body, priority: CANARY }, body] })
  await post(api, `/runs/${id}/cancel`, {})
  await post(api, `/runs/${id}/retry`, {})
  const answers = await Promise.all([
    ...[`/runs/${id}`, '/runs', `/runs/${id}/events`, `/runs/${id}/attempts`, '/metrics'].map((path) => api.get(path)),
    post(api, '/runs', { ...body, parameters: { ...PARAMETERS, scenario: 1, api_key: [CANARY] } }),
    post(api, '/runs', { ...body, idempotency_key: 'k', parameters: { ...PARAMETERS, months: 1 } }),
    post(api, '/runs/batch', { runs: [{ ...body, parameters: { api_key: [CANARY] } }] }),
    post(api, '/runs', '{"model":"forecast","parameters":{"scenario":"s","api_key":73517351735173517351}}'),
  ])
  for (const { body: text, statusCode } of answers) {
    expect(statusCode).toBeLessThan(500)
    expect(text).not.toContain(CANARY)
    expect(text).not.toContain('7351735173517')
  }
  const logged = JSON.stringify(api.logLines)
  expect(logged).not.toContain(CANARY)
  expect(logged).not.toContain('7351735173517')
  expect(await storedParameters(api, id)).toEqual({ ...PARAMETERS, months: 24 })
})

describe('a run derived from another', () => {
  async function source(api: TestApi): Promise<{ id: string; shown: Record<string, unknown> }> {
    const { run_id: id, parameters } = (await post(api, '/runs', { model: 'forecast', parameters: PARAMETERS })).json()
    return { id, shown: parameters }
  }

  test('gets the true values where markers stand, and keeps what was changed', async () => {
    const api = await createTestApi()
    const { id, shown } = await source(api)
    expect(shown).toMatchObject({ api_key: REDACTED, note: { deep: [{ authToken: REDACTED }] } })
    const body = { model: 'forecast', parameters: { ...shown, months: 6 }, derived_from: id }
    const derived = await post(api, '/runs', body)
    expect(derived.statusCode).toBe(201)
    expect(derived.body).not.toContain(CANARY)
    expect(await storedParameters(api, derived.json().run_id)).toEqual({ ...PARAMETERS, months: 6 })
    const again = await post(api, '/runs/batch', { runs: [body] })
    expect(again.json().data[0]).toMatchObject({ status: 200, run: { run_id: derived.json().run_id } })
  })

  test.each([
    ['where the source hides nothing', { scenario: REDACTED }, '/parameters/scenario'],
    ['where the source has nothing', { scenario: 's', note: { key: REDACTED } }, '/parameters/note/key'],
    ['at another place', { scenario: 's', note: REDACTED }, '/parameters/note'],
  ])('with a marker %s is refused', async (_where, parameters, pointer) => {
    const api = await createTestApi()
    const { id } = await source(api)
    const refused = (await post(api, '/runs', { model: 'forecast', parameters, derived_from: id })).json()
    expect(refused).toMatchObject({ status: 422, code: 'redaction-marker', errors: [{ pointer }] })
    expect(await api.stored()).toMatchObject({ runs: 1 })
  })

  test('a marker without a source is refused', async () => {
    const api = await createTestApi()
    const { shown } = await source(api)
    const refused = (await post(api, '/runs', { model: 'forecast', parameters: shown })).json()
    expect(refused).toMatchObject({ status: 422, code: 'redaction-marker' })
  })

  test('a source that is not there, or of another model, is refused', async () => {
    const api = await createTestApi({ models: [MODEL, { ...MODEL, name: 'other' }] })
    const { id, shown } = await source(api)
    const ask = async (body: object) => (await post(api, '/runs', { parameters: shown, ...body })).json()
    const missing = '018f0000-0000-7000-8000-000000000000'
    expect(await ask({ model: 'forecast', derived_from: missing })).toMatchObject({
      status: 404,
      code: 'run-not-found',
    })
    expect(await ask({ model: 'other', derived_from: id })).toMatchObject({
      status: 400,
      errors: [{ pointer: '/derived_from' }],
    })
  })
})

describe('what is hidden can be configured', () => {
  async function shownWith(log: Partial<typeof API_CONFIG.log>): Promise<Record<string, unknown>> {
    const options: TestApiOptions = { config: { log: { ...API_CONFIG.log, ...log } } }
    const api = await createTestApi(options)
    return (await post(api, '/runs', { model: 'forecast', parameters: PARAMETERS })).json().parameters
  }

  test('by words', async () => {
    expect(await shownWith({ redactWords: ['card'] })).toMatchObject({ api_key: CANARY, note: { card: REDACTED } })
  })

  test('by a hook, which is asked first', async () => {
    const redactHook = (path: string[]) => (path.at(-1) === 'scenario' ? true : path[0] === 'note' ? false : undefined)
    expect(await shownWith({ redactHook })).toEqual({
      ...PARAMETERS,
      ...{ scenario: REDACTED, api_key: REDACTED, months: 24 },
    })
  })
})
