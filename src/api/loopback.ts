/** Without tokens the service is open to everyone who can reach it, so it may be reached from this machine only. */

import { isIPv4 } from 'node:net'
import type { AccessConfig } from './api.ts'

export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1' || host === '[::1]') return true
  return isIPv4(host) && host.startsWith('127.')
}

/** Throws, with the cure, when others could reach a service that asks nobody for a token. Called before the service listens. */
export async function assertMayListen(
  host: string,
  { mode, anyToken }: { mode: AccessConfig['mode']; anyToken: () => Promise<boolean> },
): Promise<void> {
  if (isLoopback(host) || mode === 'tokens') return
  const where = `HOLDFAST_HOST is ${host || 'empty'}, which other machines can reach, and`
  if (mode === 'open') {
    throw new Error(
      `${where} HOLDFAST_ACCESS is open: anyone could start and read runs. ` +
        'Leave HOLDFAST_ACCESS out, or set HOLDFAST_HOST to 127.0.0.1.',
    )
  }
  if (await anyToken()) return
  throw new Error(
    `${where} there are no access tokens: anyone could start and read runs. ` +
      'Make the first one with "holdfast token create --role admin --owner <you>", or set HOLDFAST_HOST to 127.0.0.1.',
  )
}
