/** Any number of the same kind. */

import { ActionIcon } from '@mantine/core'
import { CloseIcon } from '../../parts/icons.tsx'
import { blankOf } from './defaults.ts'
import { errorAround } from './field-errors.ts'
import { Act, Frame, fieldNotes, NullAct } from './field-notes.tsx'
import type { ShapedProps } from './field-props.ts'
import { changeThenFocus, fieldId, useForm } from './form-context.ts'
import classes from './submit.module.css'
import { pointerOf } from './value-path.ts'

/** More are edited in the JSON: a form of thousands of fields helps nobody. */
const SHOWN_MAX = 100

export function ListField(props: ShapedProps<'list'>) {
  const { id, label, name, path, value, isRequired, described } = props
  const { root, set, errors, Field } = useForm()
  const { items } = described.shape
  const list = Array.isArray(value) ? value : []
  const shown = Math.min(list.length, SHOWN_MAX)
  const add = () => changeThenFocus(() => set(path, [...list, blankOf(items, root)]), fieldId([...path, list.length]))
  const remove = (index: number) =>
    changeThenFocus(() => set([...path, index], undefined), index > 0 ? fieldId([...path, index - 1]) : id)
  const empty = value === undefined ? (isRequired ? 'Nothing yet.' : 'Left out.') : 'An empty list.'
  return (
    <Frame
      id={id}
      label={label}
      isRequired={isRequired}
      notes={fieldNotes(props)}
      error={errorAround(errors, pointerOf(path), (step) => Number(step) < shown)}
      acts={
        <>
          <Act label={`Add to ${label}`} text="Add" onClick={add} />
          {value !== undefined && !isRequired && (
            <Act label={`Leave out ${label}`} text="Leave out" onClick={() => set(path, undefined)} />
          )}
          {value === undefined && isRequired && (
            <Act label={`Empty list for ${label}`} text="Empty list" onClick={() => set(path, [])} />
          )}
          <NullAct {...props} />
        </>
      }
    >
      {list.length === 0 && <div className={classes.notes}>{empty}</div>}
      {list.slice(0, SHOWN_MAX).map((_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an item is its place in the list and nothing else
        <div key={index} className={classes.item}>
          <Field name={name} label={`${label} ${index + 1}`} schema={items} path={[...path, index]} isRequired />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove ${label} ${index + 1}`}
            onClick={() => remove(index)}
          >
            <CloseIcon />
          </ActionIcon>
        </div>
      ))}
      {list.length > shown && (
        <div className={classes.notes}>{list.length - shown} more are kept; edit them in the JSON.</div>
      )}
    </Frame>
  )
}
