import { execFileSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { kubeApi } from '../../test/support/kube-api.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { connectionTo } from './fixtures/kubernetes.ts'
import { KubernetesClient } from './kubernetes-client.ts'
import { createKubernetesClient } from './kubernetes-connect.ts'
import { type Connection, inClusterConnection, tokenFile } from './kubernetes-connection.ts'
import { kubeconfigConnection } from './kubernetes-kubeconfig.ts'

async function folder(): Promise<string> {
  const made = await tempFolder()
  onTestFinished(made.remove)
  return made.path
}

function clientOf(connection: Connection): KubernetesClient {
  const client = new KubernetesClient(connection, { timeoutMs: 1_000 })
  onTestFinished(() => client.close())
  return client
}

type Parts = { cluster?: object; user?: object; context?: object; current?: string | null }

async function kubeconfig({ cluster, user, context, current = 'here' }: Parts = {}, at?: string): Promise<string> {
  const path = join(at ?? (await folder()), 'config')
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': current,
    clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443', ...cluster } }],
    users: [{ name: 'u', user: { token: 't', ...user } }],
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', ...context } }],
  }
  await writeFile(path, stringify(content))
  return path
}

describe('inside a cluster', () => {
  async function account(): Promise<string> {
    const path = await folder()
    for (const [name, text] of Object.entries({ token: 'first', namespace: 'models\n', 'ca.crt': 'CA' })) {
      await writeFile(join(path, name), text)
    }
    return path
  }

  it('the service account says where, as whom and in which namespace', async () => {
    const path = await account()
    const env = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' }
    const connection = await inClusterConnection(env, path)
    expect(connection.server.href).toBe('https://10.96.0.1/')
    expect(connection.namespace).toBe('models')
    expect(String(connection.tls.ca)).toBe('CA')
    expect(await connection.token?.read()).toBe('first')
    const six = await inClusterConnection({ KUBERNETES_SERVICE_HOST: 'fd00::1' }, path)
    expect(six.server.host).toBe('[fd00::1]')
  })

  it('elsewhere it is refused with the cure', async () => {
    await expect(inClusterConnection({})).rejects.toThrow('does not run in a pod')
    const env = { KUBERNETES_SERVICE_HOST: '10.96.0.1' }
    await expect(inClusterConnection(env, await folder())).rejects.toThrow('automountServiceAccountToken')
  })
})

describe('a token in a file', () => {
  it('is read again after a minute, and at once when it was refused', async () => {
    const path = join(await folder(), 'token')
    await writeFile(path, 'first\n')
    let nowMs = 0
    const token = tokenFile(path, () => nowMs)
    expect(await token.read()).toBe('first')
    await writeFile(path, 'second')
    expect(await token.read()).toBe('first')
    nowMs = 61_000
    expect(await token.read()).toBe('second')
    await writeFile(path, 'third')
    token.forget()
    expect(await token.read()).toBe('third')
  })

  it('that rotated while the old one expired is noticed within the request', async () => {
    const api = await kubeApi()
    const path = join(await folder(), 'token')
    await writeFile(path, 'old')
    api.tokens.add('old')
    const client = clientOf(connectionTo(api, { token: tokenFile(path) }))
    expect(await client.getJob('default', 'none')).toBeNull()
    api.tokens.delete('old')
    api.tokens.add('new')
    await writeFile(path, 'new')
    expect(await client.getJob('default', 'none')).toBeNull()
  })

  it('that is wrong is refused as such after one more try', async () => {
    const api = await kubeApi()
    api.tokens.add('good')
    const path = join(await folder(), 'token')
    await writeFile(path, 'bad')
    const client = clientOf(connectionTo(api, { token: tokenFile(path) }))
    await expect(client.getJob('default', 'none')).rejects.toMatchObject({ name: 'KubernetesRefused', status: 401 })
    expect(api.seen).toHaveLength(2)
  })
})

describe('a kubeconfig', () => {
  it('gives server, token and namespace of its current context', async () => {
    const connection = await kubeconfigConnection([await kubeconfig({ context: { namespace: 'models' } })], null)
    expect(connection.server.href).toBe('https://10.0.0.1:6443/')
    expect(connection.namespace).toBe('models')
    expect(await connection.token?.read()).toBe('t')
  })

  it('gives certificates from inside, and from files beside it', async () => {
    const at = await folder()
    await writeFile(join(at, 'ca.pem'), 'CA')
    await writeFile(join(at, 'key.pem'), 'KEY')
    await mkdir(join(at, 'more'))
    await writeFile(join(at, 'more', 'token'), 'from a file')
    const path = await kubeconfig(
      {
        cluster: { 'certificate-authority': 'ca.pem', 'tls-server-name': 'kubernetes' },
        user: {
          token: undefined,
          tokenFile: 'more/token',
          'client-certificate-data': Buffer.from('CERT').toString('base64'),
          'client-key': 'key.pem',
        },
      },
      at,
    )
    const { tls, token } = await kubeconfigConnection([path], null)
    expect(String(tls.ca)).toBe('CA')
    expect(String(tls.cert)).toBe('CERT')
    expect(String(tls.key)).toBe('KEY')
    expect(tls.servername).toBe('kubernetes')
    expect(await token?.read()).toBe('from a file')
  })

  it('of several files the first that names a thing wins, and missing ones are left out', async () => {
    const first = await kubeconfig({ current: null, user: { token: 'first' } })
    const second = await kubeconfig({ user: { token: 'second' } })
    const connection = await kubeconfigConnection([join(await folder(), 'none'), first, second], null)
    expect(await connection.token?.read()).toBe('first')
  })

  it.each([
    ['exec', { exec: { command: 'aws' } }, 'a plugin that runs a program'],
    ['auth-provider', { 'auth-provider': { name: 'gcp' } }, 'an authentication provider'],
    ['a password', { username: 'admin', password: 'x' }, 'a password'],
    ['impersonation', { as: 'root' }, 'impersonation'],
  ])('with %s is refused and says why', async (_what, user, why) => {
    await expect(kubeconfigConnection([await kubeconfig({ user })], null)).rejects.toThrow(why)
  })

  it.each([
    [{ current: null }, null, 'HOLDFAST_KUBERNETES_CONTEXT'],
    [{}, 'there', 'no context named there; it has here'],
    [{ context: { user: 'x' } }, null, 'no user named x; it has u'],
    [{ cluster: { server: 'ftp://x' } }, null, 'must be an http or https URL'],
    [{ cluster: { 'proxy-url': 'http://x' } }, null, 'a proxy'],
  ] as const)('%j is refused', async (parts, context, why) => {
    await expect(kubeconfigConnection([await kubeconfig(parts)], context)).rejects.toThrow(why)
  })

  it('that cannot be read is named, without a piece of it', async () => {
    const path = join(await folder(), 'config')
    await writeFile(path, 'users: [{token: hunter2')
    const refused = await kubeconfigConnection([path], null).catch((error: Error) => error.message)
    expect(refused).toBe(`${path} is no kubeconfig`)
    await expect(kubeconfigConnection(['/nowhere/config'], null)).rejects.toThrow('no kubeconfig at /nowhere/config')
  })

  it('is found by KUBECONFIG, in the home folder, or by its path', async () => {
    const api = await kubeApi()
    const home = await folder()
    await mkdir(join(home, '.kube'))
    await kubeconfig({ cluster: { server: api.url }, context: { namespace: 'at-home' } }, join(home, '.kube'))
    const path = await kubeconfig({ cluster: { server: api.url }, context: { namespace: 'by-name' } })
    const connect = async (connection: string, env: Record<string, string>) => {
      const client = await createKubernetesClient({ connection, context: null, requestMs: 1_000, env })
      onTestFinished(() => client.close())
      expect(await client.getJob(client.namespace, 'none')).toBeNull()
      return client.namespace
    }
    expect(await connect('kubeconfig', { HOME: home })).toBe('at-home')
    expect(await connect('kubeconfig', { HOME: home, KUBECONFIG: path })).toBe('by-name')
    expect(await connect(path, { HOME: home })).toBe('by-name')
  })
})

describe.skipIf(!hasOpenssl())('over TLS', () => {
  it('the server is checked against the authority given, and gets our certificate', async () => {
    const at = await folder()
    const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: at, stdio: 'ignore' })
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    openssl(
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-keyout',
      'key.pem',
      '-out',
      'cert.pem',
      ...subject,
    )
    const [key, cert] = await Promise.all([readFile(join(at, 'key.pem')), readFile(join(at, 'cert.pem'))])
    const notFound = { kind: 'Status', code: 404, reason: 'NotFound', message: 'no such Job' }
    let presented = ''
    const options = { key, cert, ca: cert, requestCert: true, rejectUnauthorized: true }
    const server = createServer(options, (request, response) => {
      presented = (request.socket as TLSSocket).getPeerCertificate().subject.CN as string
      response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(notFound))
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    onTestFinished(() => void server.close().closeAllConnections())
    const address = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const base = { server: address, namespace: 'default', token: null }
    const trusted = clientOf({ ...base, tls: { ca: cert, cert, key } })
    expect(await trusted.getJob('default', 'none')).toBeNull()
    expect(presented).toBe('localhost')
    const stranger = clientOf({ ...base, tls: { cert, key } })
    await expect(stranger.getJob('default', 'none')).rejects.toThrow('self-signed certificate')
  })
})

function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
