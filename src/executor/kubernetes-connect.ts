/** The client for the cluster that the operator has named: never from a request, never from a model. */

import { homedir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { KubernetesClient } from './kubernetes-client.ts'
import { type Connection, inClusterConnection } from './kubernetes-connection.ts'
import { kubeconfigConnection } from './kubernetes-kubeconfig.ts'

export type ConnectOptions = {
  /** `in-cluster`, `kubeconfig`, or the path of a kubeconfig file. */
  connection: string
  context: string | null
  requestMs: number
  /** The environment of the process, for KUBECONFIG and for what Kubernetes puts into a pod. */
  env: Readonly<Record<string, string | undefined>>
}

export async function createKubernetesClient(options: ConnectOptions): Promise<KubernetesClient> {
  return new KubernetesClient(await connectionOf(options), { timeoutMs: options.requestMs })
}

async function connectionOf({ connection, context, env }: ConnectOptions): Promise<Connection> {
  if (connection === 'in-cluster') return inClusterConnection(env)
  if (connection !== 'kubeconfig') return kubeconfigConnection([resolve(connection)], context)
  const named = (env.KUBECONFIG ?? '').split(delimiter).filter(Boolean)
  return kubeconfigConnection(named.length > 0 ? named : [join(env.HOME ?? homedir(), '.kube', 'config')], context)
}
