/**
 * The parameters being written: one value, seen as a form and as JSON text. Editing either changes the value. A text that is not JSON, or not
 * an object, is kept as it was typed, and the value stays what it was until the text can be read again.
 */

import { isNumberKept } from './number-text.ts'
import { hasHidden, hideSecrets, showSecrets } from './secrets.ts'
import { isObject, type JsonObject, type Path, setAt } from './value-path.ts'

export type Draft = {
  value: JsonObject
  /** As typed; null when the text is made from the value. */
  text: string | null
  /** Why the text cannot be read; null when it says the value. */
  trouble: string | null
  /** What hidden values in the text stand for: the value from before it was touched. */
  base: JsonObject
}

export function draftOf(value: JsonObject): Draft {
  return { value, text: null, trouble: null, base: value }
}

export function textOf({ value, text }: Draft, areSecretsShown = true): string {
  return text ?? JSON.stringify(areSecretsShown ? value : hideSecrets(value), null, 2)
}

/** What the form does; undefined removes. The form is paused while the text cannot be read, so there is no text to lose. */
export function editValue(draft: Draft, path: Path, next: unknown): Draft {
  const value = setAt(draft.value, path, next)
  return draftOf(isObject(value) ? value : {})
}

/** What the JSON does. */
export function editText(draft: Draft, text: string): Draft {
  const read = readObject(text)
  if (typeof read === 'string') return { ...draft, text, trouble: read }
  const value = showSecrets(read, draft.base) as JsonObject
  if (hasHidden(value))
    return { ...draft, text, trouble: 'A value is hidden that is not known: show the secrets first.' }
  return { ...draft, value, text, trouble: null }
}

/** Back to the last value that could be read. */
export function dropText({ value }: Draft): Draft {
  return draftOf(value)
}

/** The object, or why there is none. */
function readObject(text: string): JsonObject | string {
  let value: unknown
  const changed: string[] = []
  try {
    value = JSON.parse(text, ((_name: string, read: unknown, context?: { source?: string }) => {
      const { source } = context ?? {}
      if (typeof read === 'number' && source !== undefined && !isNumberKept(source, read)) changed.push(source)
      return read
    }) as (name: string, value: unknown) => unknown)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  if (!isObject(value)) return 'Parameters are an object: { "name": value }.'
  if (changed.length > 0) return `The number ${changed[0]} has more digits than JSON numbers keep; write it as a text.`
  return value
}
