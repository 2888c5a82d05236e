/** One of several values; a value that is none of them is shown too, since it is what would be sent. */

import { NativeSelect } from '@mantine/core'
import { errorWithin } from './field-errors.ts'
import { fieldNotes, shortJson } from './field-notes.tsx'
import type { ShapedProps } from './field-props.ts'
import { useForm } from './form-context.ts'
import { isSameJson, pointerOf } from './value-path.ts'

const NONE = ''
const OTHER = 'other'

export function ChoiceField(props: ShapedProps<'choice'>) {
  const { id, label, path, value, isRequired, described } = props
  const { set, errors } = useForm()
  const { options: stated } = described.shape
  const options = described.isNullable ? [...stated, { label: 'No value (null)', value: null }] : stated
  const chosen = value === undefined ? -1 : options.findIndex((option) => isSameJson(option.value, value))
  const none = described.default === undefined ? 'Left out' : `Left out (${shortJson(described.default)})`
  return (
    <NativeSelect
      id={id}
      label={label}
      size="sm"
      withAsterisk={isRequired}
      description={fieldNotes(props)}
      error={errorWithin(errors, pointerOf(path))}
      value={value === undefined ? NONE : chosen === -1 ? OTHER : String(chosen)}
      data={[
        { value: NONE, label: isRequired ? 'Choose…' : none },
        ...options.map((option, index) => ({ value: String(index), label: option.label })),
        ...(value !== undefined && chosen === -1
          ? [{ value: OTHER, label: `${shortJson(value)} (not one of these)` }]
          : []),
      ]}
      onChange={({ currentTarget: { value: picked } }) => {
        if (picked !== OTHER) set(path, picked === NONE ? undefined : options[Number(picked)]?.value)
      }}
    />
  )
}
