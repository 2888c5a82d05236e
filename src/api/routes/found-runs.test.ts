/** Results that can be searched, over HTTP: a model declares facets and places, its runs are found by them. The search itself is tested in the store. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import type { LeaseObject } from '../../contract/lease.ts'
import { ListAnswer } from '../../contract/list.ts'
import { PlaceList } from '../../contract/place.ts'

const MODEL = {
  parameters_schema: { type: 'object' },
  facets: { language: 'statistics.language', mail: 'entities.mail' },
  places: 'entities.places',
  expected_seconds: 10,
  timeout_seconds: 1_000,
}
const PARIS = { latitude: 48.8566, longitude: 2.3522, label: 'Paris' }

describe('runs found by what a remote worker completed them with', () => {
  let api: TestApi
  let small: string
  let large: string
  beforeAll(async () => {
    const worker = { leaseMs: 60_000, pollMs: 60_000, deadlineGraceMs: 10_000 }
    api = await openTestApi({ config: { worker, result: { inlineBytesMax: 1_000, bytesMax: 1_000_000 } } })
    await send('PUT', '/models/read/1', MODEL)
    small = await completed({
      statistics: { language: 'fr' },
      entities: { mail: ['a@example.org', 'b, c@example.org'], places: [PARIS, { latitude: 'north' }] },
    })
    large = await completed({ statistics: { language: 'de' }, text: 'x'.repeat(5_000) })
  })
  afterAll(() => api.close())

  const send = (method: 'POST' | 'PUT', url: string, payload: object, headers: Record<string, string> = {}) =>
    api.app.inject({ method, url, payload, headers })

  async function lease(): Promise<LeaseObject> {
    const asked = { worker: 'w', models: ['read'], slots: 1, wait_seconds: 0 }
    return (await send('POST', '/leases', asked)).json().data[0]
  }

  async function completed(result: object): Promise<string> {
    await api.create({ model: 'read', parameters: {}, dedupe: 'off' })
    const { run_id: runId, token } = await lease()
    const answer = await send('POST', `/leases/${runId}/complete`, { result }, { 'holdfast-attempt-token': token })
    expect(answer.json()).toMatchObject({ run_status: 'SUCCEEDED' })
    return runId
  }

  async function list(query: string): Promise<string[]> {
    const answer = await api.get(`/runs?${query}`)
    expect(answer.statusCode, answer.body).toBe(200)
    return ListAnswer.parse(answer.json()).data.map(({ run_id: id }) => (id === small ? 'small' : 'large'))
  }

  it('R310: the model shows what its runs are found by, and how long one is expected to take', async () => {
    const { facets, places, expected_seconds: expected } = (await api.get('/models/read')).json()
    expect({ facets, places, expected }).toEqual({ facets: MODEL.facets, places: MODEL.places, expected: 10 })
    expect((await api.get('/models/forecast')).json()).toMatchObject({ facets: {}, places: null })
  })

  it.each([
    ['facet=language:fr', ['small']],
    ['facet=language:fr,language:de', ['large', 'small']],
    ['facet=language:fr&facet=language:de', ['large', 'small']],
    ['facet=language:fr&facet=mail:a@example.org', ['small']],
    ['facet=language:de&facet=mail:a@example.org', []],
    ['facet=mail:b%5C,%20c@example.org', ['small']],
    ['not_facet=language:fr', ['large']],
    ['facet=language:fr&not_facet=mail:a@example.org', []],
    ['near=48.85,2.35,10', ['small']],
    ['near=48.85,2.35,0.1', []],
    ['bbox=48,2,49,3', ['small']],
    ['bbox=48,3,49,2', []],
    ['near=48.85,2.35,10&facet=language:de', []],
    ['overdue=true', []],
    ['overdue=false&model=read', ['large', 'small']],
  ])('%s', async (query, expected) => {
    expect(await list(query)).toEqual(expected)
  })

  it.each([
    'facet=language',
    'facet=:fr',
    'facet=language:',
    'facet=La:fr',
    'near=1,2',
    'near=91,0,1',
    'near=0,0,0',
    'bbox=2,0,1,1',
    'bbox=a',
    'overdue=yes',
  ])('refuses %s', async (query) => {
    expect((await api.get(`/runs?${query}`)).json()).toMatchObject({ status: 400, code: 'invalid-query' })
  })

  it('the same names make the filter of bulk operations and of views', async () => {
    const filter = { facet: 'language:fr', near: '48.85,2.35,10', status: 'SUCCEEDED' }
    const counted = await send('POST', '/bulk', { action: 'retry', filter, dry_run: true })
    expect(counted.json()).toMatchObject({ count: 1 })
    const view = await send('POST', '/views', { name: 'here', filter: { ...filter, overdue: false } })
    expect(view.json().filter).toEqual({ ...filter, facet: ['language:fr'], status: ['SUCCEEDED'], overdue: false })
  })

  it('the places of a run are listed, and only to those who may see it', async () => {
    expect(PlaceList.parse((await api.get(`/runs/${small}/places`)).json()).data).toEqual([{ ...PARIS, file_id: null }])
    expect((await api.get(`/runs/${large}/places`)).json()).toEqual({ data: [], next_cursor: null })
    expect((await api.get('/runs/0190a0b0-0000-7000-8000-000000000001/places')).statusCode).toBe(404)
  })

  it('a definition that declares them wrongly is refused with the place', async () => {
    const answer = await send('PUT', '/models/wrong/1', { ...MODEL, facets: { 'a/b': 'x', ok: 'a..b' }, places: '.' })
    expect(answer.json().errors).toMatchObject([
      { pointer: '/facets/a~1b' },
      { pointer: '/facets/ok' },
      { pointer: '/places' },
    ])
  })

  it('a run that takes too long says since when', async () => {
    const { run_id: runId } = await api.create({ model: 'read', parameters: {}, dedupe: 'off' })
    await lease()
    await api.db.query(`UPDATE run_attempts SET started_at = clock() - interval '31 seconds' WHERE run_id = $1`, [
      runId,
    ])
    await api.db.query(`UPDATE model_runs SET started_at = clock() - interval '31 seconds' WHERE id = $1`, [runId])
    const tag = (await api.get(`/runs/${runId}`)).headers.etag!
    await api.store.overdue.flag(10)
    const { overdue_since: since, attempts } = (
      await api.get(`/runs/${runId}`, { 'if-none-match': tag as string })
    ).json()
    expect(Date.parse(since) - Date.parse(attempts[0].started_at)).toBe(30_000)
    const [listed] = ListAnswer.parse((await api.get('/runs?overdue=true')).json()).data
    expect(listed).toMatchObject({ run_id: runId, overdue_since: since })
    const events = (await api.get(`/runs/${runId}/events`)).json().data
    expect(events.at(-1)).toMatchObject({ type: 'overdue', status: 'RUNNING', data: { expected_seconds: 10 } })
    expect((await api.get('/metrics')).body).toContain('runs_overdue 1')
  })
})
