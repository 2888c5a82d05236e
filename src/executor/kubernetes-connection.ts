/**
 * How to reach a Kubernetes API server and prove who we are: from inside a pod by its service account, elsewhere by a kubeconfig.
 *
 * A token in a file is read again as it rotates: after a minute, and at once when the server refuses the one we have.
 */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

export type Connection = {
  server: URL
  /** The namespace that jobs go to when nothing else names one. */
  namespace: string
  /** As `https.Agent` takes them. */
  tls: {
    ca?: string | Buffer
    cert?: string | Buffer
    key?: string | Buffer
    servername?: string
    rejectUnauthorized?: boolean
  }
  token: TokenSource | null
}

export type TokenSource = {
  read(): Promise<string>
  /** Makes the next `read` look again. */
  forget(): void
}

const TOKEN_AGE_MS_MAX = 60_000
const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'

export function fixedToken(token: string): TokenSource {
  return { read: async () => token, forget: () => {} }
}

export function tokenFile(path: string, now: () => number = () => performance.now()): TokenSource {
  let known: { token: string; readAtMs: number } | null = null
  return {
    async read() {
      if (known === null || now() - known.readAtMs > TOKEN_AGE_MS_MAX) {
        const token = (await readFile(path, 'utf8')).trim()
        if (token === '') throw new Error(`the token file ${path} is empty`)
        known = { token, readAtMs: now() }
      }
      return known.token
    },
    forget() {
      known = null
    },
  }
}

/** `env` is the environment of the process, where Kubernetes names its API server. */
export async function inClusterConnection(
  env: Readonly<Record<string, string | undefined>>,
  folder = SERVICE_ACCOUNT_FOLDER,
): Promise<Connection> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env
  if (!host) {
    throw new Error(
      'HOLDFAST_KUBERNETES is in-cluster, but this process does not run in a pod: KUBERNETES_SERVICE_HOST is not set. ' +
        'Name a kubeconfig file instead.',
    )
  }
  const read = (name: string) =>
    readFile(join(folder, name)).catch((cause: Error) => {
      throw new Error(
        `the service account's ${name} cannot be read: ${cause.message}. Set automountServiceAccountToken for the worker's pod.`,
        { cause },
      )
    })
  const [ca, namespace] = await Promise.all([read('ca.crt'), read('namespace'), read('token')])
  return {
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    namespace: namespace.toString('utf8').trim(),
    tls: { ca },
    token: tokenFile(join(folder, 'token')),
  }
}
