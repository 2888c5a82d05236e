/** The operator's Ray clusters, each with its client. A token file is read again when it has changed, so that tokens can be renewed. */

import { readFileSync, statSync } from 'node:fs'
import { RayClient } from './ray-client.ts'

export type RayClusterSettings = {
  clusters: readonly { name: string; address: string }[]
  tokenFiles: readonly { name: string; text: string }[]
  token: string | null
  requestMs: number
}

export function createRayClients(settings: RayClusterSettings): Map<string, RayClient> {
  const { clusters, tokenFiles, token, requestMs } = settings
  const unknown = tokenFiles.find(({ name }) => !clusters.some((cluster) => cluster.name === name))
  if (unknown)
    throw new Error(`HOLDFAST_RAY_TOKEN_FILES names ${unknown.name}, which is no cluster of HOLDFAST_RAY_CLUSTERS`)
  return new Map(
    clusters.map(({ name, address }) => {
      const file = tokenFiles.find((one) => one.name === name)?.text
      const readToken = file === undefined ? () => token : tokenFrom(file)
      return [name, new RayClient({ address, token: readToken, timeoutMs: requestMs })]
    }),
  )
}

function tokenFrom(path: string): () => string {
  let known: { token: string; changedMs: number } | null = null
  return () => {
    const { mtimeMs: changedMs } = statSync(path)
    if (known?.changedMs !== changedMs) known = { token: readFileSync(path, 'utf8').trim(), changedMs }
    return known.token
  }
}
