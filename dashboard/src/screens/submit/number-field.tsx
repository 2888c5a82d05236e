/** A number, typed as text: what is not one yet is kept and shown, and the service says what it thinks of it. */

import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { errorWithin } from './field-errors.ts'
import { fieldNotes, NullAct } from './field-notes.tsx'
import type { ShapedProps } from './field-props.ts'
import { useForm } from './form-context.ts'
import { numberText, readNumber } from './number-text.ts'
import { isSensitiveName } from './secrets.ts'
import { pointerOf } from './value-path.ts'

export function NumberField(props: ShapedProps<'number'>) {
  const { id, label, name, path, value, isRequired, described } = props
  const { set, errors } = useForm()
  const [typed, setTyped] = useState('')
  return (
    <div>
      <TextInput
        id={id}
        type={isSensitiveName(name) ? 'password' : 'text'}
        label={label}
        value={numberText(value, typed)}
        size="sm"
        withAsterisk={isRequired}
        aria-required={isRequired || undefined}
        description={fieldNotes(props)}
        error={errorWithin(errors, pointerOf(path))}
        placeholder={described.default === undefined ? undefined : String(described.default)}
        inputMode={described.shape.isInteger ? 'numeric' : 'decimal'}
        autoComplete="off"
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value)
          set(path, readNumber(currentTarget.value))
        }}
      />
      <NullAct {...props} />
    </div>
  )
}
