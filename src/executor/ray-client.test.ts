/** The client of Ray's job server: what it sends, and what it makes of replies. */

import { describe, expect, it, onTestFinished } from 'vitest'
import { rayStub } from '../../test/support/ray-stub.ts'
import { answers, breaksOff, saysNothing, scriptedServer } from '../../test/support/scripted-http.ts'
import { RayClient, RayRefused, RayUnreachable } from './ray-client.ts'

const SUBMISSION = { entrypoint: 'true', submission_id: 'run-1', runtime_env: {}, metadata: {} }

function clientOf(address: string, token: string | null = null, timeoutMs = 5_000): RayClient {
  const client = new RayClient({ address, token: () => token, timeoutMs })
  onTestFinished(() => client.close())
  return client
}

describe('requests', () => {
  it('look like no browser', async () => {
    const stub = await rayStub()
    await clientOf(stub.url).submit(SUBMISSION)
    const { headers, path } = stub.seen[0]!
    expect(path).toBe('/api/jobs/')
    expect(Object.keys(headers).filter((name) => /^sec-|origin|referer|^access-control/.test(name))).toEqual([])
    expect(headers['user-agent']).toBe('holdfast')
  })

  it('carry the token, and nothing without one', async () => {
    const stub = await rayStub()
    await clientOf(stub.url, 'abc').version()
    await clientOf(stub.url).version()
    expect(stub.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer abc', undefined])
  })

  it('keep the path of the address, as behind a proxy', async () => {
    const server = await scriptedServer(answers(200, { ray_version: '2', session_name: 's' }))
    await clientOf(`${server.url}/ray/`).version()
    expect(server.seen[0]!.path).toBe('/ray/api/version')
  })
})

describe('replies', () => {
  it('tell an absent job from one that cannot be asked for', async () => {
    const stub = await rayStub()
    expect(await clientOf(stub.url).job('run-2')).toBeNull()
    stub.down = answers(500, 'Traceback')
    await expect(clientOf(stub.url).job('run-2')).rejects.toThrow(RayRefused)
    stub.down = answers(502, 'bad gateway')
    await expect(clientOf(stub.url).job('run-2')).rejects.toThrow(RayUnreachable)
  })

  it('may take only so long', async () => {
    const server = await scriptedServer(saysNothing)
    await expect(clientOf(server.url, null, 50).version()).rejects.toThrow('no answer from Ray within 0.05 s')
  })

  it('that break off say nothing', async () => {
    const server = await scriptedServer(breaksOff('{"ray_version": "2", "session_name": "s"}'))
    await expect(clientOf(server.url).version()).rejects.toThrow(RayUnreachable)
  })

  it('of another shape say nothing', async () => {
    const server = await scriptedServer(answers(200, { status: 'DANCING' }))
    await expect(clientOf(server.url).job('run-1')).rejects.toThrow(RayUnreachable)
  })

  it('that are too large are not read to their end', async () => {
    const server = await scriptedServer(answers(200, { status: 'RUNNING', message: 'x'.repeat(5_000_000) }))
    await expect(clientOf(server.url).job('run-1')).rejects.toThrow('too large')
  })

  it('know a request that was never sent', async () => {
    const error = await clientOf('http://127.0.0.1:9')
      .version()
      .catch((thrown) => thrown)
    expect(error).toMatchObject({ name: 'RayUnreachable', sent: false })
  })

  it('have words for people from the end of a traceback', async () => {
    const server = await scriptedServer(answers(500, `${'x'.repeat(10_000)}\nValueError: no such thing`))
    await expect(clientOf(server.url).job('run-1')).rejects.toThrow(/… x+\nValueError: no such thing$/)
  })
})

describe('logs', () => {
  it('are kept from their beginning and, in raw form, their end', async () => {
    const logs = `${'é\n'.repeat(1_000)}the end`
    const server = await scriptedServer(answers(200, { logs }), answers(200, { logs }))
    const client = clientOf(server.url)
    expect(await client.log('run-1', { headBytesMax: 1_000_000 })).toMatchObject({ head: logs, cut: false })
    const parts = await client.log('run-1', { headBytesMax: 100, tailBytesMax: 20 })
    expect(parts?.cut).toBe(true)
    expect(logs.startsWith(parts!.head)).toBe(true)
    expect(parts!.head.length).toBeGreaterThan(20)
    expect(parts?.tail).toContain('the end"}')
  })

  it('may be cut within an escape', async () => {
    const body = '{"logs": "a\\u00e9\\u00e9b"}'
    for (let bytes = 11; bytes < body.length; bytes += 1) {
      const server = await scriptedServer(answers(200, body))
      const log = await clientOf(server.url).log('run-1', { headBytesMax: bytes })
      expect('aééb'.startsWith(log!.head)).toBe(true)
    }
  })
})
