/** A part of the parameters as JSON, for what no other field can show. A text that cannot be read is kept, and nothing is sent until it can. */

import { Textarea } from '@mantine/core'
import { useEffect, useState } from 'react'
import { errorWithin } from './field-errors.ts'
import { fieldNotes } from './field-notes.tsx'
import type { FieldFacts } from './field-props.ts'
import { useForm } from './form-context.ts'
import { isSameJson, pointerOf } from './value-path.ts'

export function JsonField(props: FieldFacts) {
  const { id, label, path, value, isRequired } = props
  const { set, errors, markUnreadable } = useForm()
  const [typed, setTyped] = useState<string | null>(null)
  const pointer = pointerOf(path)
  const read = typed === null ? { value } : readJson(typed)
  const isUnreadable = read === null
  useEffect(() => {
    markUnreadable(pointer, isUnreadable)
    return () => markUnreadable(pointer, false)
  }, [markUnreadable, pointer, isUnreadable])
  // What was typed is shown as long as it means the value, or nothing yet.
  const isTyped = typed !== null && (isUnreadable || isSameJson(read?.value, value))
  const text = isTyped ? typed : value === undefined ? '' : JSON.stringify(value, null, 2)
  const trouble = isTyped && isUnreadable ? 'This is not JSON yet; nothing is submitted until it is.' : null
  return (
    <Textarea
      id={id}
      label={`${label} (JSON)`}
      value={text}
      size="sm"
      withAsterisk={isRequired}
      description={fieldNotes(props)}
      error={trouble ?? errorWithin(errors, pointer)}
      autosize
      minRows={1}
      maxRows={12}
      spellCheck={false}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 12 } }}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value)
        const next = readJson(currentTarget.value)
        if (next) set(path, next.value)
      }}
    />
  )
}

/** An empty text leaves the parameter out; null when it cannot be read. */
function readJson(text: string): { value: unknown } | null {
  if (text.trim() === '') return { value: undefined }
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return null
  }
}
