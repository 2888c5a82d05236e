/** A parameter that may have one of several forms: which one, and then the fields of that form. */

import { NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { blankOf, branchOf, mayBe } from './defaults.ts'
import { errorsOfBranch, errorWithin } from './field-errors.ts'
import { fieldNotes, NullAct } from './field-notes.tsx'
import type { ShapedProps } from './field-props.ts'
import { FormContext, useForm } from './form-context.ts'
import { JsonField } from './json-field.tsx'
import { resolved, type Schema } from './schema.ts'
import { describe } from './shape.ts'
import classes from './submit.module.css'
import { pointerOf } from './value-path.ts'

const NONE = ''
const OTHER = 'other'

export function BranchesField(props: ShapedProps<'branches'>) {
  const { id, label, name, path, value, isRequired, described } = props
  const form = useForm()
  const { root, set, errors, Field } = form
  const { branches } = described.shape
  const [picked, setPicked] = useState(-1)
  // Several may fit; the one that was picked stays as long as it does.
  const isPickedFit = picked >= 0 && value !== undefined && mayBe(value, branches[picked]?.schema, root)
  const chosen = isPickedFit ? picked : value === undefined ? -1 : branchOf(value, branches, root)
  const branch = chosen === -1 ? null : namesOf(branches[chosen]?.schema, form.root)
  const within = { ...form, errors: errorsOfBranch(errors, pointerOf(path), branch) }
  const isOther = value !== undefined && chosen === -1
  const pick = (text: string) => {
    if (text === OTHER) return
    setPicked(text === NONE ? -1 : Number(text))
    set(path, text === NONE ? undefined : blankOf(branches[Number(text)]?.schema, root))
  }
  return (
    <div className={classes.branches}>
      <NativeSelect
        id={value === undefined ? id : `${id}-form`}
        label={`Form of ${label}`}
        size="sm"
        withAsterisk={isRequired}
        description={fieldNotes(props)}
        error={value === undefined ? errorWithin(errors, pointerOf(path)) : null}
        value={isOther ? OTHER : chosen === -1 ? NONE : String(chosen)}
        data={[
          { value: NONE, label: isRequired ? 'Choose…' : 'Left out' },
          ...branches.map((branch, index) => ({ value: String(index), label: branch.label })),
          ...(isOther ? [{ value: OTHER, label: 'Something else (JSON)' }] : []),
        ]}
        onChange={({ currentTarget }) => pick(currentTarget.value)}
      />
      {chosen >= 0 && (
        <FormContext value={within}>
          <Field key={chosen} name={name} label={label} schema={branches[chosen]?.schema} path={path} isRequired />
        </FormContext>
      )}
      {isOther && <JsonField {...props} />}
      <NullAct {...props} />
    </div>
  )
}

/** The names of a form that is an object, and those of them that have one value only. */
function namesOf(schema: unknown, root: Schema): { names: string[]; constants: string[] } | null {
  const { shape } = describe(schema, root)
  if (shape.kind !== 'object') return null
  const constants = shape.properties.filter(({ schema: property }) => Object.hasOwn(resolved(property, root), 'const'))
  return { names: shape.properties.map(({ name }) => name), constants: constants.map(({ name }) => name) }
}
