import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, type TestStore } from '../../test/support/store.ts'
import { createRunIds } from '../api/run-id.ts'
import type { Actor } from './ports/audit.ts'
import type { NewToken } from './ports/tokens.ts'

const ACTOR: Actor = { tokenId: null, owner: 'root', requestId: 'request-1' }
const nextId = createRunIds()
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

function newToken(changes: Partial<NewToken> = {}): NewToken {
  const id = nextId()
  return {
    id,
    name: 'ci',
    hash: hashOf(id),
    role: 'viewer',
    owner: 'ada',
    queues: null,
    expiresInSeconds: null,
    ...changes,
  }
}

describe.each(postgresVersions)('access on Postgres %s', (server) => {
  let at: TestStore
  beforeAll(async () => {
    at = await openTestStore(server)
  })
  afterAll(() => at.close())
  beforeEach(() => at.database.shiftClock('0'))

  const stateOf = async (hash: string) => (await at.store.tokens.findByHash([hash]))[0]?.state ?? null

  it('no token exists until one is made, and revoking it does not unmake it', async () => {
    const other = await openTestStore(server)
    expect(await other.store.tokens.anyExist()).toBe(false)
    const { id } = await other.store.tokens.create(newToken(), ACTOR)
    await other.store.tokens.revoke(id, ACTOR)
    expect(await other.store.tokens.anyExist()).toBe(true)
    await other.close()
  })

  it('a token is found by its hash as it was made', async () => {
    const made = newToken({ role: 'worker', queues: ['gpu', 'a,"b'], expiresInSeconds: 60 })
    const token = await at.store.tokens.create(made, ACTOR)
    expect(token).toMatchObject({ id: made.id, name: 'ci', role: 'worker', queues: ['gpu', 'a,"b'], createdBy: 'root' })
    expect(token.expiresAt!.getTime() - token.createdAt.getTime()).toBe(60_000)
    const found = await at.store.tokens.findByHash([hashOf('nothing'), made.hash])
    expect(found).toEqual([{ hash: made.hash, token, state: 'live', sessionExpiresAt: null }])
  })

  it('a token ends at its expiry, by the clock of the database', async () => {
    const made = newToken({ expiresInSeconds: 60 })
    await at.store.tokens.create(made, ACTOR)
    await at.database.shiftClock('61 seconds')
    expect(await stateOf(made.hash)).toBe('expired')
  })

  it('revoking is idempotent, keeps the first time, and finds nothing for an unknown id', async () => {
    const made = newToken()
    await at.store.tokens.create(made, ACTOR)
    const first = await at.store.tokens.revoke(made.id, ACTOR)
    await at.database.shiftClock('1 hour')
    expect(await at.store.tokens.revoke(made.id, ACTOR)).toEqual(first)
    expect(await stateOf(made.hash)).toBe('revoked')
    expect(await at.store.tokens.revoke(nextId(), ACTOR)).toBeNull()
  })

  it('use is noted, at most once a minute', async () => {
    const made = newToken()
    await at.store.tokens.create(made, ACTOR)
    const lastUsed = async () => (await at.store.tokens.findByHash([made.hash]))[0]!.token.lastUsedAt?.getTime()
    await at.store.tokens.touch([made.id, made.id])
    const first = await lastUsed()
    await at.database.shiftClock('30 seconds')
    await at.store.tokens.touch([made.id])
    expect(await lastUsed()).toBe(first)
    await at.database.shiftClock('61 seconds')
    await at.store.tokens.touch([made.id])
    expect(await lastUsed()).toBeGreaterThan(first!)
  })

  it('a session is worth what its token is worth and ends with it', async () => {
    const made = newToken()
    const token = await at.store.tokens.create(made, ACTOR)
    const session = { hash: hashOf(`session of ${made.id}`), tokenId: made.id, ttlSeconds: 60 }
    const { expiresAt } = (await at.store.tokens.startSession(session))!
    expect(await at.store.tokens.findByHash([session.hash])).toEqual([
      { hash: session.hash, token, state: 'live', sessionExpiresAt: expiresAt },
    ])
    await at.store.tokens.revoke(made.id, ACTOR)
    expect(await stateOf(session.hash)).toBe('revoked')
    expect(await at.store.tokens.startSession({ ...session, hash: hashOf('late') })).toBeNull()
  })

  it('a session never outlives its token', async () => {
    const made = newToken({ expiresInSeconds: 10 })
    const { expiresAt } = await at.store.tokens.create(made, ACTOR)
    const hash = hashOf(`short ${made.id}`)
    expect(await at.store.tokens.startSession({ hash, tokenId: made.id, ttlSeconds: 3600 })).toEqual({ expiresAt })
  })

  it('an ended session is gone, and expired ones are swept away by the next', async () => {
    const made = newToken()
    await at.store.tokens.create(made, ACTOR)
    const start = (name: string) =>
      at.store.tokens.startSession({ hash: hashOf(name + made.id), tokenId: made.id, ttlSeconds: 60 })
    await start('ended')
    await start('expired')
    await at.store.tokens.endSession(hashOf(`ended${made.id}`))
    await at.database.shiftClock('2 minutes')
    expect(await stateOf(hashOf(`ended${made.id}`))).toBeNull()
    expect(await stateOf(hashOf(`expired${made.id}`))).toBe('expired')
    await start('next')
    expect(await stateOf(hashOf(`expired${made.id}`))).toBeNull()
  })

  it('lists come newest first, in pages that miss nothing', async () => {
    const made = [newToken(), newToken(), newToken()]
    for (const token of made) await at.store.tokens.create(token, ACTOR)
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<typeof at.store.tokens.list>> = await at.store.tokens.list({ limit: 2, cursor })
      seen.push(...page.tokens.map(({ id }) => id))
      cursor = page.nextCursor
    } while (cursor !== null)
    expect(seen.slice(0, 3)).toEqual(made.map(({ id }) => id).reverse())
    expect(new Set(seen).size).toBe(seen.length)
  })

  it('making and revoking are audited once each, without the hash', async () => {
    const made = newToken()
    await at.store.tokens.create(made, ACTOR)
    await at.store.tokens.revoke(made.id, { ...ACTOR, tokenId: made.id })
    await at.store.tokens.revoke(made.id, ACTOR)
    const { events } = await at.store.audit.list({ limit: 2, cursor: null })
    expect(events).toMatchObject([
      { action: 'token.revoke', target: made.id, actorToken: made.id, actorOwner: 'root', requestId: 'request-1' },
      { action: 'token.create', target: made.id, actorToken: null, data: { name: 'ci', role: 'viewer', owner: 'ada' } },
    ])
    expect(JSON.stringify(events)).not.toContain(made.hash)
  })

  it('any act can be recorded, and pages of the audit follow each other', async () => {
    await at.store.audit.record({ actor: ACTOR, action: 'queue.pause', target: 'default', data: { n: 1 } })
    await at.store.audit.record({ actor: ACTOR, action: 'queue.resume', target: null })
    const first = await at.store.audit.list({ limit: 1, cursor: null })
    const second = await at.store.audit.list({ limit: 1, cursor: first.nextCursor })
    expect([...first.events, ...second.events]).toMatchObject([
      { action: 'queue.resume', target: null, data: {} },
      { action: 'queue.pause', target: 'default', data: { n: 1 } },
    ])
  })

  it.each(['x', 'MTIz', ''])('the cursor %j is refused', async (cursor) => {
    await expect(at.store.tokens.list({ limit: 1, cursor })).rejects.toMatchObject({ code: 'invalid-query' })
  })

  it.each([
    ['the audit cannot be changed', "UPDATE audit_events SET action = 'x'"],
    ['the audit cannot be emptied', 'DELETE FROM audit_events'],
    ['a token cannot be deleted', 'DELETE FROM api_tokens'],
    ['a token cannot be given another role', "UPDATE api_tokens SET role = 'admin' WHERE role = 'viewer'"],
    ['a token cannot be given another owner', "UPDATE api_tokens SET owner = owner || 'x'"],
    ['a token cannot live longer', "UPDATE api_tokens SET expires_at = clock() + interval '9 years'"],
    ['a revoked token stays revoked', 'UPDATE api_tokens SET revoked_at = NULL WHERE revoked_at IS NOT NULL'],
  ])('%s', async (_what, sql) => {
    const { id } = await at.store.tokens.create(newToken(), ACTOR)
    await at.store.tokens.revoke(id, ACTOR)
    await expect(at.database.query(sql)).rejects.toMatchObject({ code: '23000' })
  })
})
