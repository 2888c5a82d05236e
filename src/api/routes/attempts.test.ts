import { expect, test } from 'vitest'
import { createTestApi } from '../../../test/support/api.ts'
import { AttemptList } from '../../contract/event.ts'
import { StepList } from '../../contract/step.ts'

test('the attempts of a run are listed in order', async () => {
  const { create, claim, settle, get } = await createTestApi()
  const { run_id } = await create()
  await settle(await claim(), { kind: 'retry', error: { class: 'Boom', message: 'x', stack: null }, delaySeconds: 0 })
  await claim()
  const { data } = AttemptList.parse((await get(`/runs/${run_id}/attempts`)).json())
  expect(data.map(({ attempt, state }) => [attempt, state])).toEqual([
    [1, 'FAILED'],
    [2, 'RUNNING'],
  ])
})

test('a run without steps has an empty list of them', async () => {
  const { create, get } = await createTestApi()
  const { run_id } = await create()
  expect(StepList.parse((await get(`/runs/${run_id}/steps`)).json()).data).toEqual([])
})

test.each(['attempts', 'steps', 'logs'])('a run that is not there has no %s', async (what) => {
  const { get } = await createTestApi()
  const response = await get(`/runs/01890a0b-0c0d-7000-8000-000000000000/${what}`)
  expect(response.json()).toMatchObject({ status: 404, code: 'run-not-found' })
})
