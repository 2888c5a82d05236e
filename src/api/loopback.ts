/** Without tokens the service is open to everyone who can reach it, so it may be reached from this machine only. */

import { isIPv4 } from 'node:net'

export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1' || host === '[::1]') return true
  return isIPv4(host) && host.startsWith('127.')
}

/** Throws, with the cure, for an address other machines can reach. Called before the service listens. */
export function assertLoopback(host: string): void {
  if (isLoopback(host)) return
  throw new Error(
    `HOLDFAST_HOST is ${host || 'empty'}, which other machines can reach, and there are no access tokens: ` +
      'anyone could start and read runs. ' +
      'Set HOLDFAST_HOST to 127.0.0.1, or reach the service through a tunnel such as "ssh -L 4600:127.0.0.1:4600".',
  )
}
