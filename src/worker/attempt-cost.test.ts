/** What an attempt cost goes with its end, whichever that is; a model without a cost sends nothing. */

import { expect, it } from 'vitest'
import { settlementOf } from '../../test/support/settlement-of.ts'
import type { Outcome } from '../executor/executor.ts'

const COST = { cost: { estimate: 1 } }
const SUCCEEDED: Outcome = { status: 'succeeded', resultText: '1' }
const FAILED: Outcome = { status: 'failed', error: { class: 'Error', message: 'it broke', stack: null } }

it.each([
  ['of a success', SUCCEEDED],
  ['of a failure', FAILED],
])('%s it is the latest that was reported', async (_, outcome) => {
  const settlement = await settlementOf(COST, outcome, (reports) => {
    for (const amount of [1, 2.5]) reports.cost!(amount)
  })
  expect(settlement).toMatchObject({ cost: { reported: 2.5 } })
})

it('of an engine it is what the job says', async () => {
  expect(await settlementOf(COST, { ...SUCCEEDED, cost: 4 })).toMatchObject({ cost: { reported: 4 } })
})

it('where nothing is reported, that is told, so that the time or the estimate counts', async () => {
  expect(await settlementOf(COST, SUCCEEDED)).toMatchObject({ cost: { reported: null } })
})

it('of a model without a cost there is not even a name', async () => {
  expect(await settlementOf({}, SUCCEEDED)).not.toHaveProperty('cost')
})
