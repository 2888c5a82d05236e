/** Names of one's own choice, each with a value of the same kind. */

import { ActionIcon, Button, Group, TextInput } from '@mantine/core'
import { useState } from 'react'
import { CloseIcon } from '../../parts/icons.tsx'
import { blankOf } from './defaults.ts'
import { errorAround } from './field-errors.ts'
import { Act, Frame, fieldNotes, NullAct } from './field-notes.tsx'
import type { ShapedProps } from './field-props.ts'
import { changeThenFocus, fieldId, useForm } from './form-context.ts'
import classes from './submit.module.css'
import { isObject, memberOf, pointerOf } from './value-path.ts'

const SHOWN_MAX = 100

export function MapField(props: ShapedProps<'map'>) {
  const { id, label, path, value, isRequired, described } = props
  const { set, errors, Field } = useForm()
  const { values } = described.shape
  const names = isObject(value) ? Object.keys(value) : []
  const shown = names.slice(0, SHOWN_MAX)
  return (
    <Frame
      id={id}
      label={label}
      isRequired={isRequired}
      notes={fieldNotes(props)}
      error={errorAround(errors, pointerOf(path), (step) => shown.includes(step))}
      acts={
        <>
          {value !== undefined && !isRequired && (
            <Act label={`Leave out ${label}`} text="Leave out" onClick={() => set(path, undefined)} />
          )}
          <NullAct {...props} />
        </>
      }
    >
      {shown.map((name) => (
        <div key={name} className={classes.item}>
          <Field name={name} label={name} schema={values} path={[...path, name]} isRequired />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove ${name} from ${label}`}
            onClick={() => changeThenFocus(() => set([...path, name], undefined), `${id}-new`)}
          >
            <CloseIcon />
          </ActionIcon>
        </div>
      ))}
      {names.length > shown.length && (
        <div className={classes.notes}>{names.length - shown.length} more are kept; edit them in the JSON.</div>
      )}
      <NewName {...props} />
    </Frame>
  )
}

function NewName({ id, label, path, value, described }: ShapedProps<'map'>) {
  const { root, set } = useForm()
  const [name, setName] = useState('')
  const isTaken = memberOf(value, name) !== undefined
  const add = () => {
    if (name === '' || isTaken) return
    const added = () => {
      set([...path, name], blankOf(described.shape.values, root))
      setName('')
    }
    changeThenFocus(added, fieldId([...path, name]))
  }
  return (
    <Group gap="xs" align="flex-start" mt={4}>
      <TextInput
        id={`${id}-new`}
        size="xs"
        aria-label={`New name in ${label}`}
        placeholder="New name"
        value={name}
        error={isTaken && 'is there already'}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          add()
        }}
      />
      <Button
        size="xs"
        variant="default"
        onClick={add}
        disabled={name === '' || isTaken}
        aria-label={`Add to ${label}`}
      >
        Add
      </Button>
    </Group>
  )
}
