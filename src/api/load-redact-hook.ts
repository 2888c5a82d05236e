/** The redaction hook of this installation: the default export of the module that the configuration names. */

import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { RedactOptions } from '../run/redaction.ts'

export type RedactHook = NonNullable<RedactOptions['hook']>

/** Throws when the module does not load or exports no function: a service that hides less than it was told to must not start. */
export async function loadRedactHook(module: string, from: string): Promise<RedactHook> {
  const path = resolve(from, module)
  const { default: hook } = (await import(pathToFileURL(path).href)) as { default?: unknown }
  if (typeof hook === 'function') return hook as RedactHook
  throw new Error(`HOLDFAST_REDACT_MODULE: ${path} has no function as its default export`)
}
