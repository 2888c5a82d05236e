/** A text. Secrets are typed unseen, with a way to look. */

import { PasswordInput, Textarea, TextInput } from '@mantine/core'
import { errorWithin } from './field-errors.ts'
import { fieldNotes, NullAct, shortJson } from './field-notes.tsx'
import type { ShapedProps } from './field-props.ts'
import { useForm } from './form-context.ts'
import { isSensitiveName } from './secrets.ts'
import { pointerOf } from './value-path.ts'

export function TextField(props: ShapedProps<'text'>) {
  const { id, label, name, path, value, isRequired, described } = props
  const { set, errors } = useForm()
  const text = typeof value === 'string' ? value : ''
  const common = {
    id,
    label,
    value: text,
    size: 'sm' as const,
    withAsterisk: isRequired,
    'aria-required': isRequired || undefined,
    description: fieldNotes(props),
    error: errorWithin(errors, pointerOf(path)),
    placeholder: typeof described.default === 'string' ? shortJson(described.default) : undefined,
    autoComplete: 'off',
    spellCheck: false,
    // An empty optional text is one that is left out; an empty item of a list is still an item.
    onChange: ({ currentTarget: { value: typed } }: { currentTarget: { value: string } }) =>
      set(path, typed === '' && !isRequired ? undefined : typed),
  }
  const isMultiline = described.shape.isLong || text.includes('\n')
  return (
    <div>
      {isSensitiveName(name) ? (
        <PasswordInput
          {...common}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ 'aria-label': `Show ${label}`, tabIndex: 0 }}
        />
      ) : isMultiline ? (
        <Textarea {...common} autosize minRows={2} maxRows={10} />
      ) : (
        <TextInput {...common} />
      )}
      <NullAct {...props} />
    </div>
  )
}
