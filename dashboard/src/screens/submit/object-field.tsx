/** A parameter with parameters inside. One that may be left out is, until it is added. */

import { Stack } from '@mantine/core'
import { blankOf } from './defaults.ts'
import { errorAround, namesWithoutField } from './field-errors.ts'
import { Act, Frame, fieldNotes, NullAct } from './field-notes.tsx'
import type { ShapedProps } from './field-props.ts'
import { changeThenFocus, useForm } from './form-context.ts'
import type { Property } from './shape.ts'
import classes from './submit.module.css'
import { type Path, pointerOf } from './value-path.ts'

export function ObjectField(props: ShapedProps<'object'>) {
  const { id, label, path, value, isRequired, described } = props
  const { root, set, errors } = useForm()
  const { properties } = described.shape
  const isThere = value !== undefined || isRequired
  const names = properties.map(({ name }) => name)
  const error = errorAround(errors, pointerOf(path), (step) => isThere && names.includes(step))
  const add = () => changeThenFocus(() => set(path, blankOf(described.schema, root)), id)
  return (
    <Frame
      id={id}
      label={label}
      isRequired={isRequired}
      notes={fieldNotes(props)}
      error={error}
      acts={
        <>
          {!isThere && <Act label={`Add ${label}`} text="Add" onClick={add} />}
          {value !== undefined && !isRequired && (
            <Act label={`Leave out ${label}`} text="Leave out" onClick={() => set(path, undefined)} />
          )}
          <NullAct {...props} />
        </>
      }
    >
      {isThere ? (
        <Properties properties={properties} path={path} value={value} />
      ) : (
        <div className={classes.notes}>Left out.</div>
      )}
    </Frame>
  )
}

/** The fields of an object, and what is in it that has none. */
export function Properties({ properties, path, value }: { properties: Property[]; path: Path; value: unknown }) {
  const { Field } = useForm()
  const others = namesWithoutField(
    value,
    properties.map(({ name }) => name),
  )
  return (
    <Stack gap="sm">
      {properties.map(({ name, schema, isRequired }) => (
        <Field key={name} name={name} schema={schema} path={[...path, name]} isRequired={isRequired} />
      ))}
      {others.length > 0 && (
        <div className={classes.notes}>
          Kept as in the JSON, without a field here: {others.slice(0, 10).join(', ')}
          {others.length > 10 && ` and ${others.length - 10} more`}.
        </div>
      )}
    </Stack>
  )
}
