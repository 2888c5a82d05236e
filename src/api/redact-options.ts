/** What this service hides, the same in every answer: the configured words, and the hook when there is one. */

import type { RedactOptions } from '../run/redaction.ts'
import type { ApiConfig } from './api.ts'

export function redactOptionsOf({ log }: Pick<ApiConfig, 'log'>): RedactOptions {
  return { words: log.redactWords, ...(log.redactHook && { hook: log.redactHook }) }
}
