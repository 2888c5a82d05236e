/** What a run will be found by goes with its success, wherever the result is kept; a model that declares nothing sends nothing. */

import { expect, it } from 'vitest'
import { settlementOf } from '../../test/support/settlement-of.ts'
import type { Outcome } from '../executor/executor.ts'

const success = (result: object): Outcome => ({ status: 'succeeded', resultText: JSON.stringify(result) })

const DECLARED = { facets: { language: 'language' }, places: 'at' }
const RESULT = { language: 'fr', at: [{ latitude: 1, longitude: 2 }] }

it.each([
  ['inline', 'inline', ''],
  ['in a blob', 'artifacts/', 'x'.repeat(500)],
])('of a result %s', async (_, ref, text) => {
  const { found, result } = await settlementOf(DECLARED, success({ ...RESULT, text }))
  expect(result!.ref.startsWith(ref)).toBe(true)
  expect(found).toEqual({
    facets: [{ name: 'language', value: 'fr' }],
    places: [{ latitude: 1, longitude: 2, label: null, fileId: null }],
  })
})

it('of a model that declares nothing, or of a result that has nothing of it, there is not even a name', async () => {
  expect(await settlementOf({}, success(RESULT))).not.toHaveProperty('found')
  expect(await settlementOf(DECLARED, success({ other: true }))).not.toHaveProperty('found')
})
