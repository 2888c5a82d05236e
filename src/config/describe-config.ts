/**
 * The configuration as it may be shown: in a start-up line, or when somebody prints it by accident. Passwords are
 * masked.
 */

import { inspect } from 'node:util'
import type { Config } from './config.ts'

const MASK = '***'
const SECRET_PARAMETER = /pass|secret|token|key/i

/** Fields for the line a process logs when it starts. */
export function describeConfig(config: Config) {
  return {
    ...config,
    database: { ...config.database, url: maskUrl(config.database.url) },
    redis: { url: maskUrl(config.redis.url) },
    mail: { ...config.mail, smtpUrl: maskUrl(config.mail.smtpUrl) },
    ray: {
      ...config.ray,
      clusters: config.ray.clusters.map(({ name, address }) => ({ name, address: maskUrl(address) })),
      token: config.ray.token === null ? null : MASK,
    },
    s3: config.s3 && {
      ...config.s3,
      endpoint: maskUrl(config.s3.endpoint),
      credentials: config.s3.credentials && { ...config.s3.credentials, secretAccessKey: MASK },
    },
    client: { url: maskUrl(config.client.url), token: config.client.token === null ? null : MASK },
  }
}

/** Lets JSON.stringify and inspect of the whole show only what may be shown. */
export function maskSecrets(config: Config): Config {
  const shown = () => describeConfig(config)
  for (const name of ['toJSON', inspect.custom]) Object.defineProperty(config, name, { value: shown })
  return config
}

/** The URL without its password and without secret query parameters. */
export function maskUrl(text: string | null): string | null {
  if (text === null) return null
  if (!URL.canParse(text)) return MASK
  const url = new URL(text)
  if (url.password !== '') url.password = MASK
  for (const name of url.searchParams.keys()) if (SECRET_PARAMETER.test(name)) url.searchParams.set(name, MASK)
  return url.href
}
