import { describe, expect, it, onTestFinished } from 'vitest'
import { kubeApi } from '../../test/support/kube-api.ts'
import { answers, breaksOff, saysNothing, scriptedServer } from '../../test/support/scripted-http.ts'
import { KubernetesClient } from './kubernetes-client.ts'
import { type Connection, fixedToken } from './kubernetes-connection.ts'

function clientOf(url: string, more: Partial<Connection> = {}, timeoutMs = 300): KubernetesClient {
  const connection = { server: new URL(url), namespace: 'default', tls: {}, token: fixedToken('t'), ...more }
  const client = new KubernetesClient(connection, { timeoutMs })
  onTestFinished(() => client.close())
  return client
}

const NOT_FOUND = { kind: 'Status', code: 404, reason: 'NotFound', message: 'jobs.batch "one" not found' }

describe('an answer', () => {
  it('that there is no such Job counts only from an API server', async () => {
    const server = await scriptedServer(answers(404, NOT_FOUND), answers(404, '<html>'), answers(404, { kind: 'x' }))
    const client = clientOf(server.url)
    expect(await client.getJob('default', 'one')).toBeNull()
    await expect(client.getJob('default', 'one')).rejects.toMatchObject({ name: 'KubernetesUnreachable' })
    await expect(client.getJob('default', 'one')).rejects.toMatchObject({ name: 'KubernetesUnreachable' })
  })

  it.each([500, 502, 503, 504, 429, 408])('%d says nothing', async (status) => {
    const server = await scriptedServer(answers(status, { ...NOT_FOUND, code: status, reason: 'Timeout' }))
    await expect(clientOf(server.url).getJob('default', 'one')).rejects.toMatchObject({ name: 'KubernetesUnreachable' })
  })

  it.each([
    ['is no JSON', answers(200, 'hello')],
    ['has another shape', answers(200, { items: [] })],
    ['breaks off', breaksOff('{"metadata":{"name":"o')],
    ['never comes', saysNothing],
  ])('that %s says nothing', async (_what, act) => {
    const server = await scriptedServer(act)
    await expect(clientOf(server.url).getJob('default', 'one')).rejects.toMatchObject({ name: 'KubernetesUnreachable' })
  })

  it('that is too long is not read to its end', async () => {
    const server = await scriptedServer(answers(200, `"${'x'.repeat(17 * 1024 * 1024)}"`))
    await expect(clientOf(server.url, {}, 5_000).getJob('default', 'one')).rejects.toThrow('longer than')
  })
})

describe('requests', () => {
  it('carry the token, keep the path of the server and escape names', async () => {
    const server = await scriptedServer(answers(404, NOT_FOUND))
    await clientOf(`${server.url}/k8s/clusters/one/`).getJob('a/b', '../x')
    expect(server.seen[0]?.path).toBe('/k8s/clusters/one/apis/batch/v1/namespaces/a%2Fb/jobs/..%2Fx')
    expect(server.seen[0]?.headers.authorization).toBe('Bearer t')
  })

  it('ask for strict validation when a Job is made, and give its pods up for deletion when it is deleted', async () => {
    const server = await scriptedServer(answers(201, { metadata: { name: 'one' } }), answers(200, {}))
    const client = clientOf(server.url)
    await client.createJob('default', {})
    expect(server.seen[0]?.path).toContain('fieldValidation=Strict')
    await client.deleteJob('default', 'one', 'the-uid')
    expect(server.seen[1]?.json()).toMatchObject({ propagationPolicy: 'Foreground', preconditions: { uid: 'the-uid' } })
  })

  it('read a list page by page', async () => {
    const page = (name: string, next?: string) =>
      answers(200, { metadata: { resourceVersion: '7', continue: next }, items: [{ metadata: { name } }] })
    const server = await scriptedServer(page('a', 'more'), page('b'))
    const listed = await clientOf(server.url).listPods('default', 'x=y')
    expect(listed.items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b'])
    expect(server.seen[1]?.path).toContain('continue=more')
  })
})

describe('a watch', () => {
  it('rejects with 410 when its version is too old', async () => {
    const api = await kubeApi()
    api.storage.compact()
    const options = { labelSelector: '', resourceVersion: '1', signal: new AbortController().signal }
    const watched = clientOf(api.url).watch('jobs', 'default', options, () => {})
    await expect(watched).rejects.toMatchObject({ name: 'KubernetesRefused', status: 410 })
  })

  it('with a line that has no end is given up', async () => {
    const server = await scriptedServer(answers(200, 'x'.repeat(5 * 1024 * 1024)))
    const options = { labelSelector: '', resourceVersion: '1', signal: new AbortController().signal }
    const watched = clientOf(server.url, {}, 5_000).watch('jobs', 'default', options, () => {})
    await expect(watched).rejects.toThrow('has no end')
  })
})
