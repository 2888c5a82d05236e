import { describe, expect, test } from 'vitest'
import { BODY, createTestApi } from '../../../test/support/api.ts'

const OTHER = { ...BODY, parameters: { scenario: 'other' } }
const SUCCESS = { kind: 'succeed', result: { ref: 'inline', hash: '0'.repeat(64), text: '{}' } } as const

describe('an explicit key', () => {
  test('R372: the same key and the same payload give the same run', async () => {
    const { submit, stored, hints } = await createTestApi()
    const first = await submit(BODY, { 'idempotency-key': 'k' })
    const second = await submit(BODY, { 'idempotency-key': 'k' })
    expect([first.statusCode, second.statusCode]).toEqual([201, 200])
    expect(first.headers['idempotent-replayed']).toBeUndefined()
    expect(second.headers['idempotent-replayed']).toBe('true')
    expect(second.headers.location).toBeUndefined()
    expect([first.json().idempotent_hit, second.json().idempotent_hit]).toEqual([false, true])
    expect(second.json().run_id).toBe(first.json().run_id)
    expect(await stored()).toEqual({ runs: 1, keys: 1 })
    expect(hints).toHaveLength(1)
  })

  test('R373: the same key and another payload is 409 with both hashes and changes nothing', async () => {
    const { submit, stored } = await createTestApi()
    const first = await submit(BODY, { 'idempotency-key': 'k' })
    const second = await submit(OTHER, { 'idempotency-key': 'k' })
    expect(second.statusCode).toBe(409)
    expect(second.json()).toMatchObject({
      code: 'idempotency-key-reused',
      retryable: false,
      original_payload_hash: first.json().payload_hash,
      payload_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      run_id: first.json().run_id,
    })
    expect(await stored()).toEqual({ runs: 1, keys: 1 })
  })

  test('a repeat shows the current state of the run with its attempts', async () => {
    const { submit, claim } = await createTestApi()
    await submit(BODY, { 'idempotency-key': 'k' })
    await claim()
    const again = (await submit(BODY, { 'idempotency-key': 'k' })).json()
    expect(again).toMatchObject({
      status: 'RUNNING',
      idempotent_hit: true,
      attempts: [{ attempt: 1, state: 'RUNNING' }],
    })
  })

  test('50 concurrent requests with one key make one run and all get it', async () => {
    const { submit, stored } = await createTestApi()
    const answers = await Promise.all(Array.from({ length: 50 }, () => submit(BODY, { 'idempotency-key': 'k' })))
    expect(new Set(answers.map((answer) => answer.json().run_id)).size).toBe(1)
    expect(answers.map((answer) => answer.statusCode).sort()).toEqual([...Array(49).fill(200), 201])
    expect(await stored()).toEqual({ runs: 1, keys: 1 })
  })

  test('two payloads with one key at once: one is created, the other is 409', async () => {
    const { submit, stored } = await createTestApi()
    for (let round = 0; round < 20; round += 1) {
      const key = { 'idempotency-key': `race-${round}` }
      const answers = await Promise.all([submit(BODY, key), submit(OTHER, key)])
      expect(answers.map((answer) => answer.statusCode).sort()).toEqual([201, 409])
    }
    expect(await stored()).toEqual({ runs: 20, keys: 20 })
  })

  test('keys are per owner', async () => {
    const { create } = await createTestApi()
    const [ana, ben] = await Promise.all(
      ['ana', 'ben'].map((owner) => create({}, { 'idempotency-key': 'k', 'holdfast-owner': owner })),
    )
    expect(ana!.run_id).not.toBe(ben!.run_id)
  })

  test('an expired key makes a new run once the old one has ended, and not before', async () => {
    const { create, db, claim, settle } = await createTestApi()
    const send = () => create({ idempotency_ttl_seconds: 60 }, { 'idempotency-key': 'k' })
    const first = await send()
    await db.shiftClock('2 minutes')
    expect((await send()).run_id).toBe(first.run_id)
    await settle(await claim(), SUCCESS)
    const next = await send()
    expect(next.idempotent_hit).toBe(false)
    expect(next.run_id).not.toBe(first.run_id)
  })

  test('a key lives a day by default', async () => {
    const { create, db, claim, settle } = await createTestApi()
    const send = () => create({}, { 'idempotency-key': 'k' })
    const first = await send()
    await settle(await claim(), SUCCESS)
    await db.shiftClock('23 hours 59 minutes')
    expect((await send()).run_id).toBe(first.run_id)
    await db.shiftClock('24 hours 1 minute')
    expect((await send()).run_id).not.toBe(first.run_id)
  })

  test('quoted, bare and in the body are the same key', async () => {
    const { create } = await createTestApi()
    const sent = [
      await create({}, { 'idempotency-key': 'a "b" \\c' }),
      await create({}, { 'idempotency-key': '"a \\"b\\" \\\\c"' }),
      await create({ idempotency_key: 'a "b" \\c' }),
      await create({ idempotency_key: 'a "b" \\c' }, { 'idempotency-key': '"a \\"b\\" \\\\c"' }),
    ]
    expect(new Set(sent.map(({ run_id }) => run_id)).size).toBe(1)
  })

  test('header and body with different keys are 400', async () => {
    const { submit, stored } = await createTestApi()
    const response = await submit({ ...BODY, idempotency_key: 'a' }, { 'idempotency-key': 'b' })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({
      code: 'idempotency-key-mismatch',
      errors: [{ pointer: '/idempotency_key' }],
    })
    expect(await stored()).toEqual({ runs: 0, keys: 0 })
  })

  test('a key decides alone: two keys with one payload are two runs', async () => {
    const { create } = await createTestApi()
    const first = await create({}, { 'idempotency-key': 'a' })
    expect((await create({}, { 'idempotency-key': 'b' })).run_id).not.toBe(first.run_id)
  })

  test('with dedupe given, a new key finds the active run of the payload and keeps to it', async () => {
    const { create, claim, settle } = await createTestApi()
    const first = await create()
    const again = () => create({ dedupe: 'active' }, { 'idempotency-key': 'b' })
    expect(await again()).toMatchObject({ run_id: first.run_id, idempotent_hit: true })
    await settle(await claim(), SUCCESS)
    expect((await again()).run_id).toBe(first.run_id)
  })
})

describe('without a key', () => {
  test('R381: the same payload twice returns the same run_id, one row is stored and its token was hinted', async () => {
    const { submit, stored, hints } = await createTestApi()
    const first = await submit(BODY)
    const second = await submit({ parameters: { months: 24, scenario: 'high_inflation' }, model: 'forecast' })
    expect([first.statusCode, second.statusCode]).toEqual([201, 200])
    expect(second.json()).toMatchObject({ run_id: first.json().run_id, idempotent_hit: true })
    expect(await stored()).toEqual({ runs: 1, keys: 1 })
    expect(hints).toEqual([{ topic: 'queue:default', runId: first.json().run_id }])
  })

  test('an equal payload after the window makes a new run', async () => {
    const { create, db } = await createTestApi()
    const first = await create()
    await db.shiftClock('9 minutes')
    expect((await create()).run_id).toBe(first.run_id)
    await db.shiftClock('11 minutes')
    expect((await create()).run_id).not.toBe(first.run_id)
  })

  test('idempotency_ttl_seconds sets the window', async () => {
    const { create, db } = await createTestApi()
    const first = await create({ idempotency_ttl_seconds: 3600 })
    await db.shiftClock('50 minutes')
    expect((await create()).run_id).toBe(first.run_id)
  })

  test('a finished run is no match, unless dedupe is succeeded', async () => {
    const { create, claim, settle } = await createTestApi()
    const first = await create()
    await settle(await claim(), SUCCESS)
    expect(await create({ dedupe: 'succeeded' })).toMatchObject({ run_id: first.run_id, status: 'SUCCEEDED' })
    expect((await create()).run_id).not.toBe(first.run_id)
  })

  test('a failed run is no match even for succeeded', async () => {
    const { create, claim, settle } = await createTestApi()
    const first = await create({ dedupe: 'succeeded' })
    await settle(await claim(), { kind: 'fail', error: { class: 'E', message: 'm', stack: null } })
    expect((await create({ dedupe: 'succeeded' })).run_id).not.toBe(first.run_id)
  })

  test('dedupe off makes a run each time and keeps no slot', async () => {
    const { create, stored } = await createTestApi()
    await Promise.all([create({ dedupe: 'off' }), create({ dedupe: 'off' })])
    expect(await stored()).toEqual({ runs: 2, keys: 0 })
  })

  test('a window of 0 in the configuration switches deduplication off', async () => {
    const submit = { timeoutSeconds: 60, keyTtlSeconds: 60, dedupeWindowSeconds: 0 }
    const { create, stored } = await createTestApi({ config: { submit } })
    await create()
    await create()
    expect(await stored()).toEqual({ runs: 2, keys: 0 })
  })

  test('owners do not share runs', async () => {
    const { create } = await createTestApi()
    const first = await create({}, { 'holdfast-owner': 'ana' })
    expect((await create({}, { 'holdfast-owner': 'ben' })).run_id).not.toBe(first.run_id)
  })
})
