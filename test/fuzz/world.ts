/** A service with runs in every state, and what is known to exist in it: at first, and from answers since. */

import { BODY, openTestApi, type TestApi } from '../support/api.ts'
import type { Caller } from './requests.ts'
import type { FuzzAnswer } from './send.ts'

const KEPT_MAX = 8

export type World = {
  api: TestApi
  /** Values that lead somewhere, for fields and parameters of this name. */
  known(name: string): unknown[]
  /** Picks up the ids, names, cursors and tags of an answer. */
  remember(answer: FuzzAnswer): void
  credentials(as: Caller): Record<string, string>
  close(): Promise<void>
}

const FIRST: Record<string, unknown[]> = {
  model: ['forecast'],
  model_version: ['1', null],
  queue: ['default'],
  owner: ['default', 'ana'],
  parameters: [{ scenario: 's' }, { scenario: 't', months: 3 }, { scenario: 'u', note: { api_key: 'x' } }],
  dedupe: ['off', 'active', null],
  executor: ['process', null],
  max_attempts: [1, null],
  timeout_seconds: [10, null],
  reservation_id: [null],
  filter: [{ status: 'PENDING' }, { model: 'forecast' }, {}],
}

export async function openWorld(): Promise<World> {
  const api = await openTestApi()
  const kinds = new Map<string, unknown[]>()
  const keep = (name: string, value: unknown): void => {
    const values = kinds.get(name) ?? []
    if (!values.includes(value) && !own.includes(String(value))) kinds.set(name, [...values, value].slice(-KEPT_MAX))
  }
  const runIds = await runsInEveryState(api)
  const admin = await makeToken(api, 'admin')
  const viewer = await makeToken(api, 'viewer', admin.headers)
  // Under way nothing may revoke what the requests themselves show.
  const own = [admin.id, viewer.id]

  const learned = (name: string): unknown[] => kinds.get(name) ?? []
  const special: Record<string, () => unknown[]> = {
    'runs/id': () => [...runIds, ...learned('run_id')],
    'tokens/id': () => learned('token_id'),
    'bulk/id': () => learned('operation_id'),
    'views/id': () => learned('view_id'),
    'models/name': () => ['forecast'],
    'queues/queue': () => ['default'],
    run_id: () => runIds,
    derived_from: () => runIds,
    cursor: () => learned('next_cursor'),
    after: () => learned('next_cursor'),
    'if-none-match': () => learned('etag'),
  }
  return {
    api,
    known(name) {
      return special[name]?.() ?? [...(FIRST[name] ?? []), ...learned(name)]
    },
    remember({ status, headers, body, isStream }) {
      if (status >= 300 || isStream) return
      if (headers.etag) keep('etag', headers.etag)
      if (!String(headers['content-type']).startsWith('application/json')) return
      const visit = (value: unknown): void => {
        if (typeof value !== 'object' || value === null) return
        for (const [name, one] of Object.entries(value)) {
          if (typeof one === 'string' && /(^|_)(id|cursor)$|^(name|token)$/.test(name)) keep(name, one)
          else visit(one)
        }
      }
      visit(JSON.parse(body))
    },
    credentials: (as) => (as === 'nobody' ? {} : as === 'admin' ? admin.headers : viewer.headers),
    close: api.close,
  }
}

async function runsInEveryState(api: TestApi): Promise<string[]> {
  const create = async (scenario: string) =>
    (await api.create({ ...BODY, parameters: { scenario }, dedupe: 'off' })).run_id
  const ids = [await create('succeeds')]
  await api.settle(await api.claim(), {
    kind: 'succeed',
    result: { ref: 'inline', text: '{"x":1}', hash: 'a'.repeat(64) },
  })
  ids.push(await create('fails'))
  await api.settle(await api.claim(), { kind: 'fail', error: { class: 'E', message: 'm', stack: null } })
  ids.push(await create('runs'))
  await api.claim()
  ids.push(await create('is cancelled'))
  await api.app.inject({ method: 'POST', url: `/runs/${ids.at(-1)}/cancel` })
  ids.push(await create('waits'))
  return ids
}

async function makeToken(
  api: TestApi,
  role: string,
  by = {},
): Promise<{ id: string; headers: Record<string, string> }> {
  const payload = { role, owner: 'default' }
  const made = await api.app.inject({ method: 'POST', url: '/tokens', headers: by, payload })
  if (made.statusCode !== 201) throw new Error(`no token: ${made.body}`)
  const { token, token_id: id } = made.json()
  return { id, headers: { authorization: `Bearer ${token}` } }
}
