/** The servers of this test run, for `describe.each(postgresVersions)`: the newest, and the oldest where its binaries are installed. */

import { inject } from 'vitest'

export type ServerVersion = '18' | '14'

const urls = inject('postgresUrls')

export const postgresVersions: ServerVersion[] = urls['14'] ? ['18', '14'] : ['18']

export function serverUrl(server: ServerVersion): string {
  const url = urls[server]
  if (!url) throw new Error(`no Postgres ${server} runs here; use postgresVersions to leave such tests out`)
  return url
}
