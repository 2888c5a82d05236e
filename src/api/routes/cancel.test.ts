import { expect, test } from 'vitest'
import { createTestApi, type TestApi, WORKER } from '../../../test/support/api.ts'
import { RunObject } from '../../contract/run.ts'

const cancel = ({ app }: TestApi, id: string, payload?: string) =>
  app.inject({
    method: 'POST',
    url: `/runs/${id}/cancel`,
    payload,
    headers: payload === undefined ? {} : { 'content-type': 'application/json' },
  })

test('a waiting run is cancelled at once, and again is the same', async () => {
  const api = await createTestApi()
  const { run_id } = await api.create()
  const answers = [await cancel(api, run_id), await cancel(api, run_id, '{}'), await cancel(api, run_id, '')]
  expect(answers.map((answer) => answer.statusCode)).toEqual([200, 200, 200])
  for (const answer of answers) expect(RunObject.parse(answer.json()).status).toBe('CANCELLED')
})

test('a running run is asked to stop and its holder is told', async () => {
  const api = await createTestApi()
  const { run_id } = await api.create()
  await api.claim()
  api.hints.length = 0
  const answer = await cancel(api, run_id)
  expect(answer.statusCode).toBe(202)
  expect(RunObject.parse(answer.json())).toMatchObject({ status: 'RUNNING', cancel_requested_at: expect.any(String) })
  expect(api.hints).toEqual([{ topic: `worker:${WORKER}`, runId: run_id }])
  expect((await cancel(api, run_id)).statusCode).toBe(202)
})

test.each([
  ['SUCCEEDED', { kind: 'succeed', result: { ref: 'inline', hash: 'a'.repeat(64), text: '1' } }],
  ['FAILED', { kind: 'fail', error: { class: 'E', message: 'm', stack: null } }],
] as const)('a run that ended %s is 409', async (status, settlement) => {
  const api = await createTestApi()
  const { run_id } = await api.create()
  await api.settle(await api.claim(), settlement)
  const answer = await cancel(api, run_id)
  expect(answer.statusCode).toBe(409)
  expect(answer.json()).toMatchObject({ code: 'run-already-finished', run_status: status })
})

test.each(['x', '01890a0b-0c0d-7000-8000-000000000000'])('the unknown run %s is 404', async (id) => {
  const answer = await cancel(await createTestApi(), id)
  expect(answer.statusCode).toBe(404)
  expect(answer.json().code).toBe('run-not-found')
})

test.each(['{"reason":"x"}', '[]', '1'])('the body %s is refused and the run goes on', async (body) => {
  const api = await createTestApi()
  const { run_id } = await api.create()
  const answer = await cancel(api, run_id, body)
  expect(answer.statusCode).toBe(400)
  expect((await api.get(`/runs/${run_id}`)).json().status).toBe('PENDING')
})

test('the log says who asked for the cancel', async () => {
  const api = await createTestApi()
  const { run_id } = await api.create()
  await cancel(api, run_id)
  const line = api.logLines.find(({ msg }) => msg === 'run cancelled')
  expect(line).toMatchObject({ run_id, request_id: expect.any(String), status: 'CANCELLED' })
})
