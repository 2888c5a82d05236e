import { expect, test } from 'vitest'
import { answers, loses, refuses, scriptedServer } from '../../test/support/scripted-http.ts'
import { stepClock } from '../../test/support/step-clock.ts'
import { Holdfast } from './index.ts'

const TOKEN = { role: 'submitter', owner: 'ana' } as const

test('what makes something new without a key is not sent again when nobody knows whether it was done', async () => {
  for (const lost of [loses(), refuses(502, 'bad-gateway')]) {
    const server = await scriptedServer(lost)
    const client = new Holdfast({ url: server.url, clock: stepClock() })
    await expect(client.tokens.create(TOKEN)).rejects.toMatchObject({ name: 'MaxRetriesExceeded', attempts: 1 })
    expect(server.seen).toHaveLength(1)
  }
})

test('it is sent again when the service says that it was not', async () => {
  const server = await scriptedServer(refuses(503, 'busy'), refuses(429, 'rate-limited'), answers(201, { token: 't' }))
  const client = new Holdfast({ url: server.url, clock: stepClock() })
  expect(await client.tokens.create(TOKEN)).toEqual({ token: 't' })
})

test('names are encoded in paths, and an empty answer is null', async () => {
  const server = await scriptedServer(answers(200, {}), answers(204, ''))
  const client = new Holdfast({ url: server.url })
  await client.queues.pause('a/b c')
  expect(server.seen[0]).toMatchObject({ method: 'POST', path: '/queues/a%2Fb%20c/pause', text: '' })
  expect(await client.session.end()).toBeNull()
})
