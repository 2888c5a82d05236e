/** `holdfast token` as a person types it, and the service it opens to others. */

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { openPlace, type Place, stopped } from '../support/processes.ts'

let place: Place
let database: TestDatabase
beforeAll(async () => {
  place = await openPlace()
  database = await createTestDatabase()
})
afterAll(async () => {
  await place.close()
  await database.drop()
})

async function holdfast(args: string[], url = database.url) {
  const process = place.run(args, { DATABASE_URL: url })
  const { code } = await process.exited
  return { code, text: process.text() }
}

const create = (...more: string[]) => holdfast(['token', 'create', '--role', 'viewer', '--owner', 'ada', ...more])

describe('holdfast token', () => {
  it('makes a token that is printed once', async () => {
    const { code, text } = await create('--name', 'laptop')
    expect(code).toBe(0)
    expect(text).toMatch(/^hf_[0-9A-Za-z]{43}$/m)
    expect((await holdfast(['token', 'list'])).text).toMatch(/viewer +ada +laptop +live +never/)
  })

  it('makes one as JSON, bound to queues and to a time', async () => {
    const args = ['--role', 'worker', '--owner', 'farm', '--queues', 'gpu, cpu', '--expires', '30d', '--json']
    const made = JSON.parse((await holdfast(['token', 'create', ...args])).text)
    expect(made).toMatchObject({ role: 'worker', owner: 'farm', queues: ['gpu', 'cpu'], created_by: 'command line' })
    expect(made.token).toMatch(/^hf_/)
    expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBe(30 * 86_400_000)
    const listed = JSON.parse((await holdfast(['token', 'list', '--json'])).text)
    expect(listed[0]).toMatchObject({ token_id: made.token_id, queues: ['gpu', 'cpu'] })
    expect(JSON.stringify(listed)).not.toContain(made.token)
  })

  it('revokes one when told to, and says so each time', async () => {
    const { token_id } = JSON.parse((await create('--json')).text)
    const asked = await holdfast(['token', 'revoke', token_id])
    expect([asked.code, asked.text]).toEqual([1, expect.stringContaining('--yes')])
    for (const _time of [1, 2]) {
      const { code, text } = await holdfast(['token', 'revoke', token_id, '--yes'])
      expect([code, text]).toEqual([0, expect.stringContaining(`Revoked ${token_id}`)])
    }
    expect((await holdfast(['token', 'list'])).text).toMatch(new RegExp(`${token_id} .* revoked `))
  })

  it.each([
    [['create', '--role', 'root', '--owner', 'x'], '--role must be viewer, submitter, worker, operator or admin'],
    [['create', '--role', 'viewer'], "required option '--owner <name>'"],
    [['create', '--role', 'viewer', '--owner', 'x', '--expires', 'soon'], '"soon" is not a length of time'],
    [['create', '--role', 'viewer', '--owner', 'x', '--queues', 'gpu'], 'for the role worker only'],
    [['revoke', 'x', '--yes'], '"x" is not the id of a token'],
    [['revoke', '01890a0b-0c0d-7000-8000-000000000000', '--yes'], 'there is no token'],
  ])('%j is refused with a reason', async (args, reason) => {
    const { code, text } = await holdfast(['token', ...args])
    expect([code, text]).toEqual([1, expect.stringContaining(reason)])
  })
})

describe('a service that others can reach', () => {
  it('starts once there is a token, and asks for it', async () => {
    const own = await createTestDatabase()
    onTestFinished(() => own.drop())
    const env = { DATABASE_URL: own.url, HOLDFAST_HOST: '0.0.0.0' }
    const refused = place.run(['api'], env)
    expect((await refused.exited).code).toBe(1)
    expect(refused.text()).toContain('holdfast token create --role admin --owner <you>')

    const { text } = await holdfast(['token', 'create', '--role', 'admin', '--owner', 'ada'], own.url)
    const api = await place.startApi(env)
    const url = api.url.replace('0.0.0.0', '127.0.0.1')
    const authorization = `Bearer ${/^hf_\w+$/m.exec(text)?.[0]}`
    expect((await fetch(`${url}/runs`)).status).toBe(401)
    expect((await fetch(`${url}/runs`, { headers: { authorization } })).status).toBe(200)
    expect((await fetch(`${url}/livez`)).status).toBe(200)
    expect(await stopped(api)).toEqual([0])
  })

  it('may start before there is a token when it never opens', async () => {
    const own = await createTestDatabase()
    onTestFinished(() => own.drop())
    const api = await place.startApi({ DATABASE_URL: own.url, HOLDFAST_HOST: '0.0.0.0', HOLDFAST_ACCESS: 'tokens' })
    expect((await fetch(`${api.url.replace('0.0.0.0', '127.0.0.1')}/runs`)).status).toBe(401)
    expect(await stopped(api)).toEqual([0])
  })
})
