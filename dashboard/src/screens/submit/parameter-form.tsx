/** The parameters as fields. While the JSON beside cannot be read, the fields wait: they would show something else than it says. */

import { Alert, Button, Text } from '@mantine/core'
import { useCallback, useMemo, useRef } from 'react'
import { type Draft, dropText, editValue } from './draft.ts'
import { Field } from './field.tsx'
import { errorAround, type FieldError } from './field-errors.ts'
import { type Form, FormContext } from './form-context.ts'
import { Properties } from './object-field.tsx'
import type { Schema } from './schema.ts'
import { describe } from './shape.ts'
import classes from './submit.module.css'
import type { Path } from './value-path.ts'

export function ParameterForm({ root, draft, onDraft, errors, from, unreadable, onEdit }: ParameterFormProps) {
  const markUnreadable = useCallback(
    (pointer: string, isUnreadable: boolean) => {
      if (isUnreadable) unreadable.add(pointer)
      else unreadable.delete(pointer)
    },
    [unreadable],
  )
  // Fields may change the value several times before the next render.
  const latest = useRef(draft)
  latest.current = draft
  const set = useCallback(
    (path: Path, next: unknown) => {
      latest.current = editValue(latest.current, path, next)
      onDraft(latest.current)
      onEdit(path)
    },
    [onDraft, onEdit],
  )
  const form: Form = useMemo(
    () => ({ root, value: draft.value, set, errors, from, markUnreadable, Field }),
    [root, draft.value, set, errors, from, markUnreadable],
  )
  return (
    <FormContext value={form}>
      {draft.trouble !== null && (
        <Alert color="yellow" variant="light" title="The form waits for the JSON" mb="md">
          <Text size="sm" mb="xs">
            The JSON cannot be read as it stands. Correct it, or go back to the last parameters that could be read.
          </Text>
          <Button size="xs" variant="default" onClick={() => onDraft(dropText(draft))}>
            Discard the JSON
          </Button>
        </Alert>
      )}
      <fieldset className={classes.plain} disabled={draft.trouble !== null} aria-label="Parameters">
        <Whole root={root} value={draft.value} errors={errors} />
      </fieldset>
    </FormContext>
  )
}

type ParameterFormProps = {
  root: Schema
  draft: Draft
  onDraft(draft: Draft): void
  errors: FieldError[]
  from: string | null
  /** Pointers of JSON fields that cannot be read; changed in place. */
  unreadable: Set<string>
  onEdit(path: Path): void
}

function Whole({ root, value, errors }: { root: Schema; value: unknown; errors: FieldError[] }) {
  const { shape } = useMemo(() => describe(root, root), [root])
  if (shape.kind === 'json') {
    return (
      <Text size="sm" c="dimmed">
        This model does not say what its parameters are. Write them as JSON.
      </Text>
    )
  }
  if (shape.kind !== 'object') return <Field name="parameters" label="Parameters" schema={root} path={[]} isRequired />
  const names = shape.properties.map(({ name }) => name)
  const error = errorAround(errors, '', (step) => names.includes(step))
  return (
    <>
      {error && (
        <div className={classes.error} role="note">
          {error}
        </div>
      )}
      <Properties properties={shape.properties} path={[]} value={value} />
    </>
  )
}
