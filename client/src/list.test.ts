import { expect, it } from 'vitest'
import { answers, scriptedServer } from '../../test/support/scripted-http.ts'
import { Holdfast } from './index.ts'
import { filterQuery } from './list.ts'

it('commas part the values of a name, except where they belong to the value', () => {
  expect(filterQuery({ facet: ['mail:a, b@example.org', 'language:fr'], not_facet: 'kind:x,y' })).toEqual({
    facet: ['mail:a\\, b@example.org', 'language:fr'],
    not_facet: 'kind:x\\,y',
  })
  const whole = { near: '48.85,2.35,10', bbox: '1,2,3,4', text: 'a, b', overdue: true }
  expect(filterQuery(whole)).toEqual(whole)
})

it('one page is one request, with the cursor that leads to the next', async () => {
  const page = { data: [{ run_id: 'a' }], next_cursor: 'c2' }
  const server = await scriptedServer(answers(200, page))
  const client = new Holdfast({ url: server.url })
  expect(await client.listPage({ status: 'FAILED' }, { cursor: 'c1', limit: 20, order: 'created_at_asc' })).toEqual(
    page,
  )
  expect(server.seen.map(({ path }) => path)).toEqual(['/runs?status=FAILED&order=created_at_asc&cursor=c1&limit=20'])
})

it('the steps of a run are read from all pages', async () => {
  const server = await scriptedServer(
    answers(200, { data: [{ name: 'fit' }], next_cursor: 'c1' }),
    answers(200, { data: [{ name: 'score' }], next_cursor: null }),
  )
  const client = new Holdfast({ url: server.url })
  const names: string[] = []
  for await (const { name } of client.steps('r/1')) names.push(name)
  expect(names).toEqual(['fit', 'score'])
  expect(server.seen[0]!.path).toMatch(/^\/runs\/r%2F1\/steps\?/)
})
