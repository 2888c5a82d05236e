/** What the API says about single fields of a form, to be shown at them. */

import { HoldfastError } from '@holdfast/client'

/** By the name of the field: `/events/0` belongs to `events`. The first one of a field counts. */
export function fieldErrors(error: unknown): Record<string, string> {
  const found: Record<string, string> = {}
  const errors = error instanceof HoldfastError ? (error.problem?.errors ?? []) : []
  for (const { pointer, detail } of errors) {
    const name = nameIn(pointer)
    found[name] ??= detail
  }
  return found
}

/** Whether everything that is wrong is said at one of these fields. */
export function isSaidAtFields(error: unknown, names: readonly string[]): boolean {
  const wrong = Object.keys(fieldErrors(error))
  return wrong.length > 0 && wrong.every((name) => names.includes(name))
}

function nameIn(pointer: string): string {
  const [, first = ''] = pointer.split('/')
  return first.replaceAll('~1', '/').replaceAll('~0', '~')
}
