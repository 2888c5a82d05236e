import { expect, it } from 'vitest'
import { filterQuery } from './list.ts'

it('commas part the values of a name, except where they belong to the value', () => {
  expect(filterQuery({ facet: ['mail:a, b@example.org', 'language:fr'], not_facet: 'kind:x,y' })).toEqual({
    facet: ['mail:a\\, b@example.org', 'language:fr'],
    not_facet: 'kind:x\\,y',
  })
  const whole = { near: '48.85,2.35,10', bbox: '1,2,3,4', text: 'a, b', overdue: true }
  expect(filterQuery(whole)).toEqual(whole)
})
