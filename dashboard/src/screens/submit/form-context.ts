/** What every field of the form knows: the value it is a part of, how to change it, and what the service has against it. */

import { type ComponentType, createContext, useContext } from 'react'
import { flushSync } from 'react-dom'
import type { FieldError } from './field-errors.ts'
import type { FieldProps } from './field-props.ts'
import type { Schema } from './schema.ts'
import { type Path, pointerOf } from './value-path.ts'

export type Form = {
  /** The schema that references lead into. */
  root: Schema
  value: unknown
  /** Undefined leaves the parameter out. */
  set(path: Path, next: unknown): void
  errors: FieldError[]
  /** The run whose hidden values the markers stand for. */
  from: string | null
  /** Fields hold fields. */
  Field: ComponentType<FieldProps>
  /** A JSON field whose text cannot be read, or can again. */
  markUnreadable(pointer: string, isUnreadable: boolean): void
}

export const FormContext = createContext<Form | null>(null)

export function useForm(): Form {
  const form = useContext(FormContext)
  if (!form) throw new Error('There is no form around this field.')
  return form
}

/** The same for every place, whatever its name: ids may not contain blanks. */
export function fieldId(path: Path): string {
  return pointerId(pointerOf(path))
}

export function pointerId(pointer: string): string {
  return `parameter${pointer.replaceAll(/[^\w/]/g, (sign) => `-${sign.charCodeAt(0).toString(16)}-`)}`
}

/** Goes to what the change adds or shows in the same step: a field that is there before the focus is would lose the first letters typed. */
export function changeThenFocus(change: () => void, id: string): void {
  flushSync(change)
  document.getElementById(id)?.focus()
}
