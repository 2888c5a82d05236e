/** Values that are not shown: one that the service hides, and null, which is no value. */

import { TextInput } from '@mantine/core'
import { blankOf } from './defaults.ts'
import { errorWithin } from './field-errors.ts'
import { Act } from './field-notes.tsx'
import type { FieldFacts } from './field-props.ts'
import { changeThenFocus, useForm } from './form-context.ts'
import { pointerOf } from './value-path.ts'

/** Sent back as it is, it means the value of the run this one is made from. */
export function HiddenField({ id, label, path, described }: FieldFacts) {
  const { from } = useForm()
  const note = `Hidden. The new run gets the value that run ${from?.slice(0, 8)}… has; it is not shown to you.`
  return <Fixed {...{ id, label, path, described, note }} text="[redacted]" act="Enter another" />
}

export function NullField({ id, label, path, described }: FieldFacts) {
  return <Fixed {...{ id, label, path, described }} note={described.description} text="null" act="Enter a value" />
}

type FixedProps = Pick<FieldFacts, 'id' | 'label' | 'path' | 'described'> & {
  note: string | null
  text: string
  act: string
}

function Fixed({ id, label, path, described, note, text, act }: FixedProps) {
  const { root, set, errors } = useForm()
  const begin = () => {
    // Where null is the default, blank is what the kind begins with.
    const { default: given, ...schema } = described.schema
    changeThenFocus(() => set(path, blankOf(given === null ? schema : described.schema, root) ?? ''), id)
  }
  const error = errorWithin(errors, pointerOf(path))
  return (
    <div>
      <TextInput id={id} label={label} size="sm" value={text} readOnly description={note} error={error} />
      <Act label={`${act}: ${label}`} text={act} onClick={begin} />
    </div>
  )
}
