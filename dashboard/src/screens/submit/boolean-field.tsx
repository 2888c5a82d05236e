/** Yes or no. Without a default there is a third answer, none, which a tick cannot show. */

import { Checkbox, NativeSelect } from '@mantine/core'
import { errorWithin } from './field-errors.ts'
import { fieldNotes, NullAct } from './field-notes.tsx'
import type { ShapedProps } from './field-props.ts'
import { useForm } from './form-context.ts'
import { pointerOf } from './value-path.ts'

export function BooleanField(props: ShapedProps<'boolean'>) {
  const { id, label, path, value, isRequired, described } = props
  const { set, errors } = useForm()
  const common = { id, label, size: 'sm' as const, description: fieldNotes(props) }
  const error = errorWithin(errors, pointerOf(path))
  if (typeof described.default === 'boolean') {
    return (
      <div>
        <Checkbox
          {...common}
          error={error}
          checked={(value ?? described.default) === true}
          onChange={({ currentTarget }) => set(path, currentTarget.checked)}
        />
        <NullAct {...props} />
      </div>
    )
  }
  return (
    <div>
      <NativeSelect
        {...common}
        error={error}
        withAsterisk={isRequired}
        value={value === undefined ? '' : String(value)}
        data={[
          { value: '', label: isRequired ? 'Choose…' : 'Left out' },
          { value: 'true', label: 'Yes (true)' },
          { value: 'false', label: 'No (false)' },
        ]}
        onChange={({ currentTarget }) =>
          set(path, currentTarget.value === '' ? undefined : currentTarget.value === 'true')
        }
      />
      <NullAct {...props} />
    </div>
  )
}
