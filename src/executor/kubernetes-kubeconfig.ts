/**
 * Reads a kubeconfig: certificates and keys inside it or in files beside it, a token or a token file.
 *
 * Several files are merged as kubectl does it: the first that names a thing wins. What we do not do is refused with a sentence instead
 * of ignored, because a credential that is quietly left out shows up later as a riddle: plugins that run programs, passwords, impersonation, proxies.
 */

import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { type Connection, fixedToken, type TokenSource, tokenFile } from './kubernetes-connection.ts'

const named = <T extends z.ZodType>(key: string, value: T) =>
  z
    .array(z.looseObject({ name: z.string(), [key]: value }))
    .nullish()
    .transform((entries) => entries ?? [])

const clusterSchema = z.looseObject({
  server: z.string(),
  'certificate-authority': z.string().optional(),
  'certificate-authority-data': z.string().optional(),
  'insecure-skip-tls-verify': z.boolean().optional(),
  'tls-server-name': z.string().optional(),
})

const userSchema = z.looseObject({
  'client-certificate': z.string().optional(),
  'client-certificate-data': z.string().optional(),
  'client-key': z.string().optional(),
  'client-key-data': z.string().optional(),
  token: z.string().optional(),
  tokenFile: z.string().optional(),
})

const contextSchema = z.looseObject({ cluster: z.string(), user: z.string(), namespace: z.string().optional() })

const fileSchema = z.looseObject({
  'current-context': z.string().nullish(),
  clusters: named('cluster', clusterSchema),
  users: named('user', userSchema),
  contexts: named('context', contextSchema),
})

/** Keys of a user or a cluster that change who we are or where we go, and that we do not follow. */
const REFUSED: Record<string, string> = {
  exec: 'a plugin that runs a program; use a token, a token file or a client certificate, such as those of a service account',
  'auth-provider':
    'an authentication provider, which Kubernetes itself has given up; use a token or a client certificate',
  username: 'a password, which Kubernetes no longer takes; use a token or a client certificate',
  password: 'a password, which Kubernetes no longer takes; use a token or a client certificate',
  as: 'impersonation; give the user itself the rights it needs',
  'as-groups': 'impersonation; give the user itself the rights it needs',
  'as-uid': 'impersonation; give the user itself the rights it needs',
  'proxy-url': 'a proxy; reach the API server directly',
}

/** `paths` in the order of KUBECONFIG; files that do not exist are left out as long as one is there. */
export async function kubeconfigConnection(paths: string[], contextName: string | null): Promise<Connection> {
  const files = (await Promise.all(paths.map(readKubeconfig))).filter((file) => file !== null)
  if (files.length === 0) throw new Error(`there is no kubeconfig at ${paths.join(' nor at ')}`)
  const wanted = contextName ?? files.map((file) => file.content['current-context']).find(Boolean)
  if (!wanted) throw new Error(`no context is chosen in ${paths.join(', ')}; set HOLDFAST_KUBERNETES_CONTEXT`)
  const find = (kind: 'clusters' | 'users' | 'contexts', name: string) => {
    for (const { path, content } of files) {
      const entry = content[kind].find((one) => one.name === name)
      if (entry) return { path, value: entry[kind.slice(0, -1)] }
    }
    const known = files.flatMap(({ content }) => content[kind].map((one) => one.name))
    const offer = known.length > 0 ? `it has ${known.join(', ')}` : 'it has none'
    throw new Error(`the kubeconfig has no ${kind.slice(0, -1)} named ${name}; ${offer}`)
  }
  const context = contextSchema.parse(find('contexts', wanted).value)
  const cluster = find('clusters', context.cluster)
  const user = find('users', context.user)
  return connectionOf(
    { path: cluster.path, name: context.cluster, value: clusterSchema.parse(cluster.value) },
    { path: user.path, name: context.user, value: userSchema.parse(user.value) },
    context.namespace ?? 'default',
  )
}

type Found<T> = { path: string; name: string; value: T }

async function connectionOf(
  cluster: Found<z.infer<typeof clusterSchema>>,
  user: Found<z.infer<typeof userSchema>>,
  namespace: string,
): Promise<Connection> {
  refuseUnsupported('cluster', cluster)
  refuseUnsupported('user', user)
  const { server } = cluster.value
  if (!URL.canParse(server) || !['http:', 'https:'].includes(new URL(server).protocol)) {
    throw new Error(`the server of cluster ${cluster.name} in the kubeconfig must be an http or https URL`)
  }
  const [ca, cert, key] = await Promise.all([
    material(cluster, 'certificate-authority'),
    material(user, 'client-certificate'),
    material(user, 'client-key'),
  ])
  const servername = cluster.value['tls-server-name']
  return {
    server: new URL(server),
    namespace,
    tls: {
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
      ...(servername && { servername }),
      ...(cluster.value['insecure-skip-tls-verify'] && { rejectUnauthorized: false }),
    },
    token: tokenOf(user),
  }
}

function tokenOf({ path, value }: Found<z.infer<typeof userSchema>>): TokenSource | null {
  if (value.tokenFile) return tokenFile(resolve(dirname(path), value.tokenFile))
  return value.token ? fixedToken(value.token) : null
}

/** What is inside the file wins over what it points to, as with kubectl. */
async function material(from: Found<Record<string, unknown>>, name: string): Promise<Buffer | undefined> {
  const data = from.value[`${name}-data`]
  if (typeof data === 'string' && data !== '') return Buffer.from(data, 'base64')
  const file = from.value[name]
  if (typeof file !== 'string' || file === '') return undefined
  return readFile(resolve(dirname(from.path), file))
}

function refuseUnsupported(kind: string, { name, value }: Found<Record<string, unknown>>): void {
  for (const [key, what] of Object.entries(REFUSED)) {
    if (value[key] !== undefined && value[key] !== null && value[key] !== '') {
      throw new Error(`the ${kind} ${name} in the kubeconfig uses ${what}`)
    }
  }
}

async function readKubeconfig(path: string): Promise<{ path: string; content: z.infer<typeof fileSchema> } | null> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  // What the parser says may show a piece of the file, and with it a credential.
  const read = fileSchema.safeParse(parsed(text))
  if (!read.success) throw new Error(`${path} is no kubeconfig`)
  return { path, content: read.data }
}

function parsed(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 100 })
  } catch {
    return null
  }
}
