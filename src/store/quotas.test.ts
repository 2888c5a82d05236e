/** Quotas one by one: which rule binds, what is counted and for how long, what is told, and what the check finds. */

import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { key, newRun, slot } from '../../test/support/new-run.ts'
import { acceptedUpload, newUpload } from '../../test/support/new-upload.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { NO_LIMITS, putRule } from '../../test/support/quotas.ts'
import { accepted, openTestStore, ownModel, settle, type TestStore } from '../../test/support/store.ts'
import { Refusal } from '../run/errors.ts'
import type { QuotaName } from '../run/quota.ts'
import { countRule } from './count-rule.ts'
import type { NewRun } from './store.ts'

describe.each(postgresVersions)('quotas on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())
  afterEach(async () => {
    await t.database.shiftClock('0')
    await t.database.query('DELETE FROM quotas')
  })

  const codeOf = async (changes: Partial<NewRun>) => {
    const answer = await t.store.submit(newRun(changes))
    return answer instanceof Refusal ? answer.code : 'accepted'
  }
  const refusalOf = async (changes: Partial<NewRun>) => {
    const answer = await t.store.submit(newRun(changes))
    if (!(answer instanceof Refusal)) throw new Error('expected a refusal')
    return answer
  }
  const end = async (model: string) => {
    const [lease] = await t.claim({ models: [{ model, version: '1', room: 1 }] })
    await settle(t, lease!, 'succeed')
  }

  it('a run without a rule leaves no hold', async () => {
    const owner = randomUUID()
    await putRule(t.store, { owner: randomUUID(), max_concurrent: 1 })
    await t.add({ owner })
    expect(await t.database.query('SELECT FROM quota_holds WHERE owner = $1', [owner])).toEqual([])
  })

  it('a place is free when its run has ended, before any janitor comes', async () => {
    const owner = randomUUID()
    const model = ownModel()
    await putRule(t.store, { owner, max_concurrent: 1 })
    await t.add({ owner, model })
    expect(await codeOf({ owner, model })).toBe('quota-exceeded')
    await end(model)
    expect(await codeOf({ owner, model })).toBe('accepted')
  })

  it('a cancelled run gives its place back', async () => {
    const owner = randomUUID()
    await putRule(t.store, { owner, max_concurrent: 1 })
    const run = await t.add({ owner })
    await t.store.cancel(run.id)
    expect(await codeOf({ owner })).toBe('accepted')
  })

  it('what was submitted before the rule counts', async () => {
    const owner = randomUUID()
    const model = ownModel()
    await t.add({ owner, model })
    await end(model)
    await t.add({ owner, model })
    const rule = await putRule(t.store, { owner, max_concurrent: 2, runs_per_day: 3 })
    expect(rule.countedAt).not.toBeNull()
    expect(await t.store.quotas.usage({ owner, model: '' })).toMatchObject([
      { limit: 'max_concurrent', maximum: 2, used: 1, sources: { runs: 1, reservations: 0 } },
      { limit: 'runs_per_day', maximum: 3, used: 2 },
    ])
    expect(await codeOf({ owner, model })).toBe('accepted')
    expect(await refusalOf({ owner, model })).toMatchObject({ extra: { limit: 'max_concurrent' } })
  })

  it.each([
    ['runs_per_hour', '59 minutes', '61 minutes'],
    ['runs_per_day', '23 hours', '25 hours'],
  ] as const)('%s counts runs that were created within it, ended or not', async (limit, within, beyond) => {
    const owner = randomUUID()
    const model = ownModel()
    await putRule(t.store, { owner, [limit]: 2 })
    await t.add({ owner, model })
    await end(model)
    await t.add({ owner, model })
    expect(await refusalOf({ owner, model })).toMatchObject({
      code: 'quota-exceeded',
      detail: `Quota exceeded: Maximum 2 ${limit.replaceAll('_', ' ')} allowed`,
      extra: { limit, maximum: 2, used: 2, holders: [] },
    })
    await t.database.shiftClock(within)
    expect(await codeOf({ owner, model })).toBe('quota-exceeded')
    await t.database.shiftClock(beyond)
    expect(await codeOf({ owner, model })).toBe('accepted')
  })

  it('the rule of an owner replaces that of everyone, in both directions', async () => {
    const [ana, bo] = [randomUUID(), randomUUID()]
    const model = ownModel()
    await putRule(t.store, { model, max_concurrent: 1 })
    await putRule(t.store, { owner: ana, model, max_concurrent: 2 })
    for (const owner of [ana, ana, bo]) expect(await codeOf({ owner, model })).toBe('accepted')
    expect(await refusalOf({ owner: ana, model })).toMatchObject({ extra: { rule: { owner: ana }, maximum: 2 } })
    expect(await refusalOf({ owner: bo, model })).toMatchObject({ extra: { rule: { owner: '*' }, maximum: 1 } })
  })

  it('a ceiling over all owners binds an owner with room of its own, and names others only to who may see all', async () => {
    const [ana, bo] = [randomUUID(), randomUUID()]
    const model = ownModel()
    await putRule(t.store, { owner: ana, max_concurrent: 10 })
    await putRule(t.store, { model, together: true, max_concurrent: 2 })
    const other = await t.add({ owner: bo, model })
    const own = await t.add({ owner: ana, model })
    expect(await refusalOf({ owner: ana, model })).toMatchObject({
      extra: { rule: { owner: '*', model, together: true }, maximum: 2, used: 2, holders: [own.id] },
    })
    const all = (await refusalOf({ owner: ana, model, seesAll: true })) as Refusal
    expect((all.extra!.holders as string[]).toSorted()).toEqual([other.id, own.id].toSorted())
    expect(await codeOf({ owner: ana, model: ownModel() })).toBe('accepted')
    expect(await t.store.quotas.usage({ owner: '*', model })).toMatchObject([{ used: 2 }])
  })

  it('everyone together, over all models', async () => {
    await t.clear()
    await t.database.query('DELETE FROM quota_holds')
    await t.add({ owner: randomUUID(), model: ownModel() })
    await putRule(t.store, { together: true, max_concurrent: 2, runs_per_hour: 5 })
    expect(await codeOf({ owner: randomUUID(), model: ownModel() })).toBe('accepted')
    expect(await codeOf({ owner: randomUUID(), model: ownModel() })).toBe('quota-exceeded')
    expect(await t.store.quotas.usage({ owner: '*', model: '' })).toMatchObject([{ used: 2 }, { used: 2 }])
  })

  it('a rule that only warns lets through and tells; so does one that is nearly used up', async () => {
    const owner = randomUUID()
    await putRule(t.store, { owner, max_concurrent: 1, runs_per_hour: 3, action: 'warn' })
    const first = accepted(await t.store.submit(newRun({ owner })))
    expect(first.warnings).toMatchObject([{ limit: 'max_concurrent', maximum: 1, used: 1, action: 'warn' }])
    const second = accepted(await t.store.submit(newRun({ owner })))
    expect(second.warnings).toMatchObject([{ limit: 'max_concurrent', maximum: 1, used: 2 }])
    expect(accepted(await t.store.submit(newRun({ owner }))).warnings).toHaveLength(2)
  })

  it('a taken key or slot is answered as always and takes no place', async () => {
    const owner = randomUUID()
    await putRule(t.store, { owner, max_concurrent: 2, runs_per_day: 2 })
    const named = newRun({ owner, key: key('once') })
    const slotted = newRun({ owner, slot: slot() })
    const firsts = [named, slotted].map(async (run) => accepted(await t.store.submit(run)).run.id)
    const ids = await Promise.all(firsts)
    for (const run of [named, slotted]) {
      const again = newRun({ owner, parameters: run.parameters, key: run.key, slot: run.slot })
      const hit = accepted(await t.store.submit(again))
      expect(ids).toContain(hit.run.id)
      expect(hit.idempotentHit).toBe(true)
    }
    expect((await refusalOf({ owner, key: key('other') })).code).toBe('quota-exceeded')
    expect((await refusalOf({ owner, key: key('once') })).code).toBe('idempotency-key-reused')
  })

  it('a batch: refused runs leave their neighbours alone, equal keys are one run', async () => {
    const owner = randomUUID()
    await putRule(t.store, { owner, max_concurrent: 3 })
    const parameters = { equal: true }
    const runs = [
      newRun({ owner, parameters, key: key('equal') }),
      newRun({ owner }),
      newRun({ owner: randomUUID() }),
      newRun({ owner, parameters, key: key('equal') }),
      newRun({ owner }),
      newRun({ owner }),
    ]
    const answers = await t.store.submitMany(runs)
    const kinds = answers.map((answer) =>
      answer instanceof Refusal ? answer.code : answer.idempotentHit ? 'hit' : 'new',
    )
    expect(kinds).toEqual(['new', 'new', 'new', 'hit', 'new', 'quota-exceeded'])
  })

  it('an upload that makes a run is admitted with it, and refused whole', async () => {
    const owner = randomUUID()
    const model = ownModel()
    await putRule(t.store, { owner, max_concurrent: 1 })
    acceptedUpload(await t.store.files.accept(newUpload({ owner, model, text: randomUUID() })))
    const second = newUpload({ owner, model, text: randomUUID() })
    expect(await t.store.files.accept(second)).toMatchObject({ code: 'quota-exceeded' })
    expect(await t.database.query('SELECT FROM files WHERE id = $1', [second.file.id])).toEqual([])
    expect(await t.store.quotas.usage({ owner, model: '' })).toMatchObject([{ used: 1 }])
    await end(model)
    expect(acceptedUpload(await t.store.files.accept(second)).upload.duplicate).toBe(false)
  })

  it('the check finds a hold that was deleted by hand, and setting the rule again mends it', async () => {
    const owner = randomUUID()
    await putRule(t.store, { owner, max_concurrent: 5 })
    const run = await t.add({ owner })
    await t.add({ owner })
    expect(await t.store.quotas.check()).toEqual([])
    await t.database.query('DELETE FROM quota_holds WHERE run_id = $1', [run.id])
    const drift = { owner, model: 'forecast', counted: 1, live: 2, runIds: [run.id] }
    expect(await t.store.quotas.check()).toEqual([drift])
    await t.database.query('UPDATE quota_holds SET is_active = false WHERE owner = $1', [owner])
    expect(await t.store.quotas.check()).toMatchObject([{ counted: 0, live: 2 }])
    await putRule(t.store, { owner, max_concurrent: 5 })
    expect(await t.store.quotas.check()).toEqual([])
  })

  it('tidying takes ended runs out of what is counted, goes round all of them, and forgets old ones', async () => {
    const owner = randomUUID()
    const model = ownModel()
    await putRule(t.store, { owner, max_concurrent: 9 })
    for (let no = 0; no < 4; no += 1) await t.add({ owner, model })
    for (let no = 0; no < 3; no += 1) await end(model)
    const holds = async () => {
      const [row] = await t.database.query(
        'SELECT count(*) AS all, count(*) FILTER (WHERE is_active) AS active FROM quota_holds WHERE owner = $1',
        [owner],
      )
      return row
    }
    expect(await holds()).toEqual({ all: 4, active: 4 })
    for (let no = 0; no < 25; no += 1) await t.store.quotas.tidy(3)
    expect(await holds()).toEqual({ all: 4, active: 1 })
    await t.database.shiftClock('26 hours')
    await t.store.quotas.tidy(100)
    expect(await holds()).toEqual({ all: 1, active: 1 })
    expect(await t.store.quotas.check()).toEqual([])
  })

  it('what a process left half done when it set a rule is finished by the janitor', async () => {
    const owner = randomUUID()
    await t.add({ owner })
    await t.database.query(
      `INSERT INTO quotas (owner, model, together, max_concurrent, action, created_at, updated_at)
       VALUES ($1, '', false, 1, 'block', clock(), clock())`,
      [owner],
    )
    await t.store.quotas.tidy(100)
    expect((await t.store.quotas.get({ owner, model: '', together: false }))?.countedAt).not.toBeNull()
    expect(await codeOf({ owner })).toBe('quota-exceeded')
  })

  it('a transaction of before that goes on for long does not keep the rule from being set', async () => {
    const client = await t.database.pool.connect()
    await client.query('BEGIN; SELECT FROM quotas')
    const name: QuotaName = { owner: randomUUID(), model: '', together: false }
    await t.database.query(
      `INSERT INTO quotas (owner, model, together, max_concurrent, action, created_at, updated_at)
       VALUES ($1, '', false, 1, 'block', clock(), clock())`,
      [name.owner],
    )
    await countRule(t.database.pool, name, 20)
    expect((await t.store.quotas.get(name))?.countedAt).toBeNull()
    await client.query('COMMIT')
    client.release()
    await t.store.quotas.tidy(100)
    expect((await t.store.quotas.get(name))?.countedAt).not.toBeNull()
  })

  it('rules are replaced, listed page by page and deleted', async () => {
    const owners = ['list-a', 'list-b', 'list-c']
    for (const owner of owners) await putRule(t.store, { owner, max_concurrent: 1 })
    await putRule(t.store, { owner: 'list-a', model: 'm', runs_per_day: 3, action: 'warn' })
    const replaced = await putRule(t.store, { owner: 'list-b', cost_per_day: 2.5 })
    expect(replaced).toMatchObject({ limits: { ...NO_LIMITS, cost_per_day: 2.5 }, action: 'block' })
    const first = await t.store.quotas.list({ owner: null, limit: 2, cursor: null })
    const second = await t.store.quotas.list({ owner: null, limit: 2, cursor: first.nextCursor })
    expect([...first.rules, ...second.rules].map(({ owner, model }) => `${owner} ${model}`)).toEqual([
      'list-a ',
      'list-a m',
      'list-b ',
      'list-c ',
    ])
    expect(second.nextCursor).toBeNull()
    expect((await t.store.quotas.list({ owner: 'list-a', limit: 9, cursor: null })).rules).toHaveLength(2)
    await expect(t.store.quotas.list({ owner: null, limit: 2, cursor: 'x' })).rejects.toMatchObject({
      code: 'invalid-query',
    })
    const name = { owner: 'list-a', model: 'm', together: false }
    expect(await t.store.quotas.delete(name)).toBe(true)
    expect(await t.store.quotas.delete(name)).toBe(false)
    expect(await t.store.quotas.get(name)).toBeNull()
  })

  it('a deleted rule limits nobody any more', async () => {
    const owner = randomUUID()
    await putRule(t.store, { owner, max_concurrent: 0 })
    expect(await codeOf({ owner })).toBe('quota-exceeded')
    await t.store.quotas.delete({ owner, model: '', together: false })
    expect(await codeOf({ owner })).toBe('accepted')
  })
})
