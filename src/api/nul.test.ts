import { expect, test } from 'vitest'
import { createTestApi } from '../../test/support/api.ts'
import { nulInPath, nulInQuery } from './nul.ts'

test.each([
  ['/models/%00', true, false],
  ['/models/a%00b?x=1', true, false],
  ['/models/a?x=%00', false, true],
  ['/models/%00?x=%00', true, true],
  ['/models/a?x=1', false, false],
  ['/models/%2500', false, false],
])('%s', (url, inPath, inQuery) => {
  expect([nulInPath(url), nulInQuery(url)]).toEqual([inPath, inQuery])
})

test('a NUL leads to nothing, and is no fault of ours', async () => {
  const { get } = await createTestApi()
  const answers = await Promise.all(['/models/%00', '/models/forecast?version=%00'].map((path) => get(path)))
  expect(answers.map((answer) => [answer.statusCode, answer.json().code])).toEqual([
    [404, 'not-found'],
    [400, 'invalid-query'],
  ])
})
