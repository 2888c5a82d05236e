import { expect, test } from 'vitest'
import { createTestApi, type TestApi } from '../../../test/support/api.ts'
import { ViewListAnswer, ViewObject } from '../../contract/views.ts'
import { VIEWS_PER_OWNER_MAX } from '../../store/views.ts'

const FAILED = { name: 'Failures of today', filter: { status: 'FAILED', not_tag: ['test'], text: null } }

function viewsOf({ app }: TestApi, owner: string) {
  return async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object) => {
    const headers = { 'holdfast-owner': owner, ...(body ? { 'content-type': 'application/json' } : {}) }
    return app.inject({ method, url: path, headers, ...(body ? { payload: JSON.stringify(body) } : {}) })
  }
}

test('a view is saved, read, replaced and deleted', async () => {
  const ask = viewsOf(await createTestApi(), 'me')
  const made = await ask('POST', '/views', FAILED)
  expect(made.statusCode).toBe(201)
  const view = ViewObject.parse(made.json())
  expect(view).toMatchObject({ owner: 'me', name: FAILED.name, order: 'created_at_desc', shared: false })
  expect(view.filter).toEqual({ status: ['FAILED'], not_tag: ['test'] })
  expect(made.headers.location).toBe(view.links.self)
  expect((await ask('GET', view.links.self)).json()).toEqual(view)

  const changed = { name: 'Other', filter: { model: ['a', 'b'] }, order: 'created_at_asc', shared: true }
  const replaced = ViewObject.parse((await ask('PUT', view.links.self, changed)).json())
  expect(replaced).toMatchObject({ ...changed, view_id: view.view_id, created_at: view.created_at })
  expect((await ask('DELETE', view.links.self)).statusCode).toBe(204)
  for (const method of ['GET', 'DELETE'] as const)
    expect((await ask(method, view.links.self)).json().code).toBe('view-not-found')
  expect((await ask('PUT', view.links.self, changed)).json().code).toBe('view-not-found')
})

test('one sees one’s own views and the shared ones, by name, in pages', async () => {
  const api = await createTestApi()
  const mine = viewsOf(api, 'me')
  const yours = viewsOf(api, 'you')
  for (const name of ['b', 'd']) await mine('POST', '/views', { name, filter: {} })
  await yours('POST', '/views', { name: 'a', filter: {} })
  for (const name of ['c', 'd']) await yours('POST', '/views', { name, filter: {}, shared: true })
  const seen: string[] = []
  for (let cursor = ''; ; ) {
    const page = ViewListAnswer.parse((await mine('GET', `/views?limit=2${cursor}`)).json())
    seen.push(...page.data.map(({ name, owner }) => `${name} of ${owner}`))
    if (page.next_cursor === null) break
    cursor = `&cursor=${page.next_cursor}`
  }
  expect(seen.toSorted()).toEqual(['b of me', 'c of you', 'd of me', 'd of you'])
  expect(seen.map((name) => name[0])).toEqual(['b', 'c', 'd', 'd'])
})

test('of a caller who sees only one owner, others’ views can be read when shared and never changed', async () => {
  const { store } = await createTestApi()
  const shared = await store.views.create({
    owner: 'you',
    name: 'a',
    filter: {},
    order: 'created_at_desc',
    shared: true,
  })
  const own = await store.views.create({ owner: 'you', name: 'b', filter: {}, order: 'created_at_desc', shared: false })
  if (typeof shared === 'string' || typeof own === 'string') throw new Error('not created')
  const me = { owner: 'me', sees: 'me' }
  expect(await store.views.read(shared.id, me)).toMatchObject({ name: 'a' })
  expect(await store.views.read(own.id, me)).toBeNull()
  expect(await store.views.read(own.id, { owner: 'me', sees: null })).toMatchObject({ name: 'b' })
  const change = { name: 'x', filter: {}, order: 'created_at_desc', shared: false } as const
  for (const { id } of [shared, own]) {
    expect(await store.views.replace(id, change, me)).toBeNull()
    expect(await store.views.remove(id, me)).toBe(false)
  }
})

test('a name is taken once per owner', async () => {
  const api = await createTestApi()
  const mine = viewsOf(api, 'me')
  const { links } = (await mine('POST', '/views', FAILED)).json()
  await mine('POST', '/views', { ...FAILED, name: 'second' })
  const again = await mine('POST', '/views', FAILED)
  expect([again.statusCode, again.json().code]).toEqual([409, 'view-exists'])
  expect((await viewsOf(api, 'you')('POST', '/views', FAILED)).statusCode).toBe(201)
  expect((await mine('PUT', links.self, { ...FAILED, name: 'second' })).json().code).toBe('view-exists')
})

test('an owner has a bounded number of views', async () => {
  const api = await createTestApi()
  await api.db.query(
    `INSERT INTO views (owner, name, filter, "order", shared) SELECT 'me', 'view ' || n, '{}', 'created_at_desc', false
     FROM generate_series(1, $1::int) AS n`,
    [VIEWS_PER_OWNER_MAX],
  )
  const refused = await viewsOf(api, 'me')('POST', '/views', FAILED)
  expect([refused.statusCode, refused.json().code]).toEqual([409, 'view-limit'])
})

test.each([
  [{ filter: {} }, '/name'],
  [{ ...FAILED, filter: { stauts: 'FAILED' } }, '/filter/stauts'],
  [{ ...FAILED, filter: { status: 'failed' } }, '/filter/status'],
  [{ ...FAILED, order: 'name' }, '/order'],
  [{ ...FAILED, name: '' }, '/name'],
  [{ ...FAILED, name: 'a\u0000' }, '/name'],
])('%j is refused', async (body, pointer) => {
  const refused = await viewsOf(await createTestApi(), 'me')('POST', '/views', body)
  expect(refused.statusCode).toBe(400)
  if (!JSON.stringify(body).includes('u0000')) expect(refused.json().errors[0].pointer).toBe(pointer)
})

test.each(['x', '0190a0b0-0000-7000-8000-000000000001'])('there is no view %s', async (id) => {
  const ask = viewsOf(await createTestApi(), 'me')
  expect((await ask('GET', `/views/${id}`)).json()).toMatchObject({ status: 404, code: 'view-not-found' })
})
