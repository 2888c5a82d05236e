/** `GET /runs` with its filters and `GET /failures`, over HTTP; the search itself is tested in the store. */

import { expect, test } from 'vitest'
import { createTestApi } from '../../../test/support/api.ts'
import { FailuresAnswer } from '../../contract/failures.ts'
import { ListAnswer } from '../../contract/list.ts'
import type { RunObject } from '../../contract/run.ts'

const BATCH = '0190a0b0-0000-7000-8000-000000000001'

async function someRuns() {
  const api = await createTestApi()
  const plain = await api.create({ dedupe: 'off' })
  const lease = await api.claim()
  await api.settle(lease, { kind: 'fail', error: { class: 'Boom', message: 'it broke', stack: null } })
  const rich = await api.create(
    { dedupe: 'off', title: 'Nightly, again', tags: ['x,y', 'z'], batch_id: BATCH },
    { 'holdfast-owner': 'me' },
  )
  const list = async (query: string) => {
    const page = ListAnswer.parse((await api.get(`/runs?${query}`)).json())
    return page.data.map(({ run_id }: RunObject) => (run_id === plain.run_id ? 'plain' : 'rich')).join()
  }
  return { ...api, list, plain, rich }
}

test('lists are narrowed by each filter and its opposite', async () => {
  const { list, plain, rich } = await someRuns()
  const found: Record<string, string> = {}
  const expected = {
    '': 'rich,plain',
    'order=created_at_asc': 'plain,rich',
    'status=FAILED': 'plain',
    'not_status=FAILED': 'rich',
    'model=forecast': 'rich,plain',
    'not_model=forecast': '',
    'model=forecast&model_version=1': 'rich,plain',
    'not_model_version=1': '',
    'owner=me': 'rich',
    'not_owner=me': 'plain',
    'queue=default': 'rich,plain',
    'not_queue=default': '',
    'tag=x%5C,y': 'rich',
    'tag=x,z': 'rich',
    'tag=x,y': '',
    'not_tag=z': 'plain',
    [`batch_id=${BATCH}`]: 'rich',
    [`not_batch_id=${BATCH}`]: 'plain',
    'error_class=Boom': 'plain',
    'not_error_class=Boom': 'rich',
    'text=NIGHTLY,': 'rich',
    'not_text=nightly': 'plain',
    'text=Bo': 'plain',
    [`text=${plain.run_id}`]: 'plain',
    [`created_after=${rich.created_at}`]: 'rich',
    [`created_before=${plain.created_at}`]: '',
    'created_after=2000-01-01T00:00:00%2B02:00': 'rich,plain',
    'created_after=2999-01-01T00:00:00Z': '',
    'status=FAILED&owner=me': '',
    'status=FAILED,PENDING&not_text=zzz&owner=me,default': 'rich,plain',
  }
  for (const query of Object.keys(expected)) found[query] = await list(query)
  expect(found).toEqual(expected)
})

test('a cursor goes on with its own filter and order only', async () => {
  const { get } = await someRuns()
  const { next_cursor } = (await get('/runs?limit=1&model=forecast')).json()
  expect((await get(`/runs?limit=1&model=forecast&cursor=${next_cursor}`)).json().data).toHaveLength(1)
  for (const query of ['', 'model=forecast,other', 'model=forecast&order=created_at_asc']) {
    const refused = await get(`/runs?limit=1&${query}&cursor=${next_cursor}`)
    expect([refused.statusCode, refused.json().code]).toEqual([400, 'invalid-query'])
  }
})

test.each([
  ['not_stauts=FAILED', 'not_status'],
  ['batch_id=x', 'batch_id'],
  ['created_after=yesterday', 'created_after'],
  ['created_after=2030-01-01T00:00:00Z&created_after=2031-01-01T00:00:00Z', 'created_after'],
  ['text=', 'text'],
  ['model=%00', 'NUL'],
  ['order=title', 'order'],
  [`tag=${Array.from({ length: 21 }, (_, no) => no).join()}`, 'tag'],
])('the list refuses ?%s', async (query, named) => {
  const { get } = await createTestApi()
  const response = await get(`/runs?${query}`)
  expect(response.json()).toMatchObject({ status: 400, code: 'invalid-query', detail: expect.stringContaining(named) })
})

test('failures carry the filter that lists their runs', async () => {
  const { get, plain } = await someRuns()
  const { data, next_cursor } = FailuresAnswer.parse((await get('/failures')).json())
  expect(next_cursor).toBeNull()
  expect(data).toMatchObject([
    { model: 'forecast', error_class: 'Boom', count: 1, count_capped: false, newest_at: plain.created_at },
  ])
  expect(data[0]!.example).toEqual({ run_id: plain.run_id, message: 'it broke' })
  const { status, model, error_class } = data[0]!.filter
  const listed = await get(`/runs?status=${status}&model=${model}&error_class=${error_class}`)
  expect(listed.json().data.map((run: RunObject) => run.run_id)).toEqual([plain.run_id])
  expect((await get('/failures?model=other')).json()).toEqual({ data: [], next_cursor: null })
  expect((await get('/failures?model=')).json().code).toBe('invalid-query')
  expect((await get('/failures?cursor=x')).json().code).toBe('invalid-query')
})
