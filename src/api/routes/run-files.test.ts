/** Runs whose parameters name files: who may use which, what becomes part of the run, and how workers elsewhere get the bytes. */

import { describe, expect, it } from 'vitest'
import { createTestApi, MODEL, type TestApi, type TestApiOptions } from '../../../test/support/api.ts'
import { type GivenFile, giveFile } from '../../../test/support/give-file.ts'
import type { LeaseObject } from '../../contract/lease.ts'
import type { RunObject } from '../../contract/run.ts'
import type { ModelDefinition } from '../../run/definition.ts'

const file = { type: 'string', format: 'holdfast-file' }
const READS: ModelDefinition = {
  ...MODEL,
  name: 'reads',
  executor: 'remote',
  parametersSchema: {
    type: 'object',
    properties: { document: file, pages: { type: 'array', items: file }, note: { type: 'string' } },
    additionalProperties: false,
  },
}
const JSON_TYPE = { 'content-type': 'application/json' }
const NOBODYS = 'e'.repeat(64)

async function house(options: TestApiOptions = {}) {
  const api = await createTestApi({ models: [MODEL, READS], ...options })
  const give = (given?: GivenFile) => giveFile(api, given)
  const post = (url: string, body: unknown, headers = {}) =>
    api.app.inject({ method: 'POST', url, headers: { ...JSON_TYPE, ...headers }, payload: JSON.stringify(body) })
  const submit = (parameters: object, headers = {}) => post('/runs', { model: 'reads', parameters }, headers)
  const read = async (id: string) => (await api.get(`/runs/${id}`)).json() as RunObject
  return { ...api, give, post, submit, read }
}

async function leased(api: TestApi): Promise<LeaseObject> {
  const payload = JSON.stringify({ worker: 'w', models: ['reads'], slots: 1, wait_seconds: 0 })
  const answer = await api.app.inject({ method: 'POST', url: '/leases', headers: JSON_TYPE, payload })
  return answer.json().data[0]
}

describe('a run that names files', () => {
  it('is made with them, and shows them', async () => {
    const { give, submit, read } = await house()
    const first = await give({ bytes: 'one', name: 'one.txt' })
    const second = await give({ bytes: 'three', name: 'three.csv', type: 'text/csv' })
    const answer = await submit({ document: first, pages: [second, first] })
    expect(answer.statusCode).toBe(201)
    const files = [
      { parameter: '/document', file_id: first, name: 'one.txt', size: 3, type: 'text/plain' },
      { parameter: '/pages/0', file_id: second, name: 'three.csv', size: 5, type: 'text/csv' },
      { parameter: '/pages/1', file_id: first, name: 'one.txt', size: 3, type: 'text/plain' },
    ]
    expect(answer.json().files).toEqual(files)
    expect((await read(answer.json().run_id)).files).toEqual(files)
  })

  it.each([
    ['nobody has', async () => NOBODYS],
    ['somebody else has', (give: (given: GivenFile) => Promise<string>) => give({ owner: 'other', bytes: 'secret' })],
  ])('is refused when %s one of them, with the place', async (_, other) => {
    const { give, submit, stored } = await house()
    const strange = await other(give)
    const answer = await submit({ document: await give(), pages: [strange] })
    const detail = `names the file ${strange}, which the owner of the run does not have`
    expect([answer.statusCode, answer.json().code, answer.json().errors]).toEqual([
      422,
      'file-not-found',
      [{ pointer: '/parameters/pages/0', detail }],
    ])
    expect(await stored()).toEqual({ runs: 0, keys: 0 })
  })

  it('is refused alone in a batch', async () => {
    const { give, post } = await house()
    const document = await give()
    const runs = [{ document }, { document: NOBODYS }, {}].map((parameters) => ({ model: 'reads', parameters }))
    const { data } = (await post('/runs/batch', { runs })).json()
    expect(data.map(({ status }: { status: number }) => status)).toEqual([201, 422, 201])
    expect(data.map(({ run }: { run: RunObject | null }) => run?.files?.length)).toEqual([1, undefined, 0])
  })

  it('is refused, and its neighbours are not, when a file goes between check and commit', async () => {
    const forgets: TestApiOptions = {
      store: (store) => ({
        ...store,
        files: { ...store.files, findMany: async (ids, owner) => pretended(ids, owner!) },
      }),
    }
    const { give, post, submit, stored, db } = await house(forgets)
    const document = await give()
    const runs = [{ document }, { document: NOBODYS }, {}].map((parameters) => ({ model: 'reads', parameters }))
    const { data } = (await post('/runs/batch', { runs })).json()
    expect(data.map(({ status }: { status: number }) => status)).toEqual([201, 422, 201])
    expect(data[1].problem).toMatchObject({
      code: 'file-not-found',
      errors: [{ pointer: '/parameters/document', detail: expect.stringContaining(NOBODYS) }],
    })
    const alone = await submit({ document: NOBODYS, pages: [document] }, { 'idempotency-key': 'k' })
    expect([alone.statusCode, alone.json().errors.length]).toEqual([422, 1])
    expect((await stored()).runs).toBe(2)
    expect(await db.query('SELECT parameter, file_id FROM run_files')).toEqual([
      { parameter: '/document', file_id: document },
    ])
  })

  it('keeps its files in a retry, whoever has them now', async () => {
    const { give, submit, post, db, read } = await house()
    const document = await give({ name: 'kept.txt' })
    const { run_id: id } = (await submit({ document })).json()
    await post(`/runs/${id}/cancel`, {})
    await db.query('DELETE FROM owner_files')
    const retry = await post(`/runs/${id}/retry`, {})
    expect([retry.statusCode, retry.json().retry_of]).toEqual([201, id])
    expect(retry.json().files).toMatchObject([{ parameter: '/document', file_id: document, name: 'kept.txt' }])
    expect((await read(retry.json().run_id)).files).toEqual(retry.json().files)
  })
})

it('models without files ask for none', async () => {
  let asked = 0
  const counting: TestApiOptions = {
    store: (store) => ({
      ...store,
      files: {
        ...store.files,
        findMany: (ids, owner) => {
          asked += 1
          return store.files.findMany(ids, owner)
        },
        ofRun: (id) => {
          asked += 1
          return store.files.ofRun(id)
        },
      },
    }),
  }
  const { create, get } = await house(counting)
  const run = await create({ parameters: { scenario: 'f'.repeat(64) } })
  expect(run.files).toEqual([])
  expect((await get('/runs')).json().data[0].files).toBeNull()
  expect(asked).toBe(0)
})

describe('a worker elsewhere', () => {
  it('is told of the files, and gets their bytes with the attempt token', async () => {
    const api = await house()
    const document = await api.give({ bytes: '<script>', name: '../../x"\r\n.html', type: 'text/html' })
    await api.submit({ document })
    const lease = await leased(api)
    const { href, ...rest } = lease.files[0]!
    expect(rest).toMatchObject({ parameter: '/document', file_id: document, size: 8, type: 'text/html' })
    const got = await api.get(href, { 'holdfast-attempt-token': lease.token })
    expect([got.statusCode, got.body]).toEqual([200, '<script>'])
    expect(got.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '8',
      'x-content-type-options': 'nosniff',
      'content-disposition': expect.stringMatching(/^attachment; filename\*=UTF-8''[\w.%_-]+$/),
    })
  })

  it('gets nothing of another run, without the token, or after the end', async () => {
    const api = await house()
    const mine = await api.give({ bytes: 'mine' })
    const unused = await api.give({ bytes: 'unused' })
    await api.submit({ document: mine })
    const { run_id: id, token, files } = await leased(api)
    const head = { 'holdfast-attempt-token': token }
    const of = async (path: string, headers = {}) => {
      const answer = await api.get(path, headers)
      return [answer.statusCode, answer.json().code]
    }
    expect(await of(`/leases/${id}/files/${unused}`, head)).toEqual([404, 'no-such-file'])
    expect(await of(`/leases/${id}/files/..%2f`, head)).toEqual([404, 'no-such-file'])
    expect(await of(files[0]!.href)).toEqual([400, 'invalid-header'])
    const other = token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A')
    expect(await of(files[0]!.href, { 'holdfast-attempt-token': other })).toEqual([409, 'lease-lost'])
    await api.post(`/leases/${id}/complete`, {}, head)
    expect(await of(files[0]!.href, head)).toEqual([409, 'lease-lost'])
  })

  it('is told when the bytes are gone, and gets no damaged ones', async () => {
    const api = await house()
    const document = await api.give({ bytes: 'right' })
    await api.submit({ document })
    const { token, files } = await leased(api)
    const head = { 'holdfast-attempt-token': token }
    const [{ ref }] = (await api.db.query<{ ref: string }>('SELECT ref FROM files')) as [{ ref: string }]
    await api.blob.put(ref.replace('artifacts/', ''), Buffer.from('short'.slice(1)))
    expect((await api.get(files[0]!.href, head)).json().code).toBe('file-missing')
    await api.blob.put(ref.replace('artifacts/', ''), Buffer.from('wrong'))
    expect((await api.get(files[0]!.href, head)).statusCode).toBe(500)
    await api.blob.delete(ref)
    expect((await api.get(files[0]!.href, head)).statusCode).toBe(500)
  })
})

function pretended(ids: string[], owner: string) {
  const one = (id: string) => ({ id, bytes: 1, type: 'text/plain', ref: 'artifacts/x', owner, name: 'x' })
  return new Map(ids.map((id) => [id, { ...one(id), createdAt: new Date() }]))
}
