/** Many runs in one request: each answered for itself, all accepted ones in one commit. */

import { describe, expect, test } from 'vitest'
import { BODY, createTestApi, type TestApi } from '../../../test/support/api.ts'
import { BatchAnswer } from '../../contract/batch.ts'
import type { Store } from '../../store/store.ts'

async function send(api: TestApi, runs: unknown, headers: Record<string, string> = {}) {
  const response = await api.app.inject({
    method: 'POST',
    url: '/runs/batch',
    headers: { 'content-type': 'application/json', ...headers },
    payload: JSON.stringify({ runs }),
  })
  const data = response.statusCode === 200 ? BatchAnswer.parse(response.json()).data : []
  return { response, data, statuses: data.map(({ status }) => status) }
}

const numbered = (count: number) =>
  Array.from({ length: count }, (_, no) => ({ model: 'forecast', parameters: { scenario: `s${no}` } }))

describe('a batch', () => {
  test('of new runs: each is 201 with its run, in order, and one hint goes out', async () => {
    const api = await createTestApi()
    const { response, data } = await send(api, numbered(5), { 'holdfast-owner': 'ana' })
    expect(response.statusCode).toBe(200)
    expect(data.map(({ status, run, problem }) => [status, run!.parameters, run!.owner, problem])).toEqual(
      numbered(5).map(({ parameters }) => [201, { ...parameters, months: 24 }, 'ana', null]),
    )
    expect(data[0]!.run).toMatchObject({ idempotent_hit: false, attempts: [], waiting: { reason: 'queued' } })
    expect(api.hints).toHaveLength(1)
    expect(await api.stored()).toMatchObject({ runs: 5 })
    const metrics = (await api.get('/metrics')).body
    expect(metrics).toMatch(/runs_created_total 5\b/)
  })

  test('with bad items: they are refused as POST /runs would refuse them, and their neighbours are stored', async () => {
    const api = await createTestApi()
    const bad = [
      'no object',
      { ...BODY, colour: 'red' },
      { ...BODY, model: 'forecst' },
      { model: 'forecast', parameters: { scenario: 1 } },
      { ...BODY, idempotency_key: 'é' },
      { ...BODY, max_attempts: 99 },
    ]
    const { data, statuses } = await send(api, [...bad, BODY])
    expect(statuses).toEqual([400, 400, 404, 422, 400, 422, 201])
    for (const [index, body] of bad.slice(1).entries()) {
      const alone = (await api.submit(body, { 'x-request-id': 'r' })).json()
      expect({ ...data[index + 1]!.problem, instance: 'r' }).toEqual(alone)
      expect(data[index + 1]!.run).toBeNull()
    }
    expect(await api.stored()).toEqual({ runs: 1, keys: 1 })
  })

  test('a key seen before is 200 with its run, and 409 with another payload, also within the batch', async () => {
    const api = await createTestApi()
    const first = await api.create({ idempotency_key: 'a' })
    const other = { model: 'forecast', parameters: { scenario: 'other' } }
    const runs = [
      { ...BODY, idempotency_key: 'a' },
      { ...other, idempotency_key: 'a' },
      { ...BODY, idempotency_key: 'b' },
      { ...BODY, idempotency_key: 'b' },
      { ...other, idempotency_key: 'b' },
    ]
    const { data, statuses } = await send(api, runs)
    expect(statuses).toEqual([200, 409, 201, 200, 409])
    expect(data[0]!.run).toMatchObject({ run_id: first.run_id, idempotent_hit: true, attempts: null, waiting: null })
    expect(data[1]!.problem).toMatchObject({ code: 'idempotency-key-reused', run_id: first.run_id })
    expect(data[3]!.run!.run_id).toBe(data[2]!.run!.run_id)
    const again = await send(api, runs)
    expect(again.statuses).toEqual([200, 409, 200, 200, 409])
  })

  test('equal payloads without keys are one run', async () => {
    const api = await createTestApi()
    const { data, statuses } = await send(api, [BODY, BODY, { ...BODY, dedupe: 'off' }])
    expect(statuses).toEqual([201, 200, 201])
    expect(data[1]!.run!.run_id).toBe(data[0]!.run!.run_id)
  })

  test('of 1,000 runs is one transaction; one more is refused', async () => {
    const api = await createTestApi()
    const { statuses } = await send(api, numbered(1_000))
    expect(new Set(statuses)).toEqual(new Set([201]))
    const [row] = await api.db.query('SELECT count(DISTINCT xmin::text) AS commits, count(*) AS runs FROM model_runs')
    expect(row).toEqual({ commits: 1, runs: 1_000 })
    const { response } = await send(api, numbered(1_001))
    expect(response.json()).toMatchObject({ status: 400, code: 'invalid-body', errors: [{ pointer: '/runs' }] })
  })

  test('asks once for a model that is not registered, however many items name it', async () => {
    let asked = 0
    const counting = (store: Store): Store => ({
      ...store,
      findModel: (...named) => {
        asked += 1
        return store.findModel(...named)
      },
    })
    const api = await createTestApi({ store: counting })
    const { statuses } = await send(api, Array(100).fill({ ...BODY, model: 'nothing' }))
    expect(new Set(statuses)).toEqual(new Set([404]))
    expect(asked).toBe(1)
  })

  test('may be empty', async () => {
    const api = await createTestApi()
    expect((await send(api, [])).response.json()).toEqual({ data: [] })
  })

  test('may be larger than other bodies, up to 16 MiB', async () => {
    const api = await createTestApi()
    const note = 'x'.repeat(900_000)
    const large = (count: number) => numbered(count).map((run) => ({ ...run, parameters: { ...run.parameters, note } }))
    expect((await send(api, large(3))).statuses).toEqual([201, 201, 201])
    expect((await send(api, large(19))).response.statusCode).toBe(413)
  })

  test('has no key of its own', async () => {
    const api = await createTestApi()
    const { response } = await send(api, [BODY], { 'idempotency-key': 'k' })
    expect(response.json()).toMatchObject({ status: 400, code: 'invalid-header' })
    expect(response.json().detail).toContain('idempotency_key')
    expect(await api.stored()).toEqual({ runs: 0, keys: 0 })
  })

  test('the database refuses one item: only that one fails', async () => {
    const api = await createTestApi()
    await api.db.query(`ALTER TABLE model_runs ADD CHECK (parameters->>'scenario' <> 's1')`)
    const { statuses } = await send(api, numbered(3))
    expect(statuses).toEqual([201, 500, 201])
    expect(api.logLines).toContainEqual(expect.objectContaining({ msg: 'run of a batch not stored', level: 'error' }))
  })
})
