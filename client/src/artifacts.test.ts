import { expect, test } from 'vitest'
import { allOf } from '../../test/support/all-of.ts'
import { answers, refuses, scriptedServer } from '../../test/support/scripted-http.ts'
import { stepClock } from '../../test/support/step-clock.ts'
import { Holdfast } from './index.ts'

const file = (name: string) => ({ name, attempt: 1, bytes: 1, sha256: 'a', href: '/x' })

test('the list goes over all pages', async () => {
  const server = await scriptedServer(
    answers(200, { data: [file('a')], next_cursor: 'more' }),
    answers(200, { data: [file('b')], next_cursor: null }),
  )
  const client = new Holdfast({ url: server.url })
  expect(await allOf(client.artifacts('run-1', { attempt: 1 }))).toEqual([file('a'), file('b')])
  expect(server.seen.map(({ path }) => path)).toEqual([
    '/runs/run-1/artifacts?limit=200&attempt=1',
    '/runs/run-1/artifacts?limit=200&attempt=1&cursor=more',
  ])
})

test('a download is a response whose body is still to be read, under any name', async () => {
  const server = await scriptedServer(refuses(503, 'busy'), answers(200, 'bytes'))
  const client = new Holdfast({ url: server.url, clock: stepClock() })
  const response = await client.download('run-1', { attempt: 2, name: 'a/b %.csv' })
  expect(response.bodyUsed).toBe(false)
  expect(await response.text()).toBe('bytes')
  expect(server.seen[1]).toMatchObject({ method: 'GET', path: '/runs/run-1/artifacts/2/a%2Fb%20%25.csv' })
})

test('a file that is not there is an error with its code', async () => {
  const server = await scriptedServer(refuses(404, 'artifact-not-found'))
  const client = new Holdfast({ url: server.url })
  const asked = client.download('run-1', { attempt: 1, name: 'x' })
  await expect(asked).rejects.toMatchObject({ status: 404, code: 'artifact-not-found' })
})
