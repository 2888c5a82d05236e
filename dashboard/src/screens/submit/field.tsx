/** One parameter: what its schema and its value ask for. Whatever has no field of its own is edited as JSON. */

import { useMemo } from 'react'
import { BooleanField } from './boolean-field.tsx'
import { BranchesField } from './branches-field.tsx'
import { ChoiceField } from './choice-field.tsx'
import type { FieldFacts, FieldProps, ShapedProps } from './field-props.ts'
import { FileField } from './file-field.tsx'
import { fieldId, useForm } from './form-context.ts'
import { HiddenField, NullField } from './hidden-field.tsx'
import { JsonField } from './json-field.tsx'
import { ListField } from './list-field.tsx'
import { MapField } from './map-field.tsx'
import { NumberField } from './number-field.tsx'
import { ObjectField } from './object-field.tsx'
import { REDACTED } from './secrets.ts'
import { describe, type Shape } from './shape.ts'
import { TextField } from './text-field.tsx'
import { getAt, isObject, isSameJson } from './value-path.ts'

const DEPTH_MAX = 8

export function Field({ name, schema, path, isRequired, label }: FieldProps) {
  const { root, value: whole, from } = useForm()
  const described = useMemo(() => describe(schema, root), [schema, root])
  const value = getAt(whole, path)
  const shaped = {
    id: fieldId(path),
    label: label ?? described.title ?? name,
    name,
    path,
    value,
    isRequired,
    described,
  }
  if (value === REDACTED && from !== null) return <HiddenField {...shaped} />
  if (value === null && described.isNullable && described.shape.kind !== 'choice') return <NullField {...shaped} />
  if (isSettled(shaped)) return null
  const kind = path.length > DEPTH_MAX || !fits(value, described.shape) ? 'json' : described.shape.kind
  return <Shaped {...shaped} kind={kind} />
}

function Shaped({ kind, ...props }: FieldFacts & { kind: Shape['kind'] }) {
  switch (kind) {
    case 'text':
      return <TextField {...(props as ShapedProps<'text'>)} />
    case 'number':
      return <NumberField {...(props as ShapedProps<'number'>)} />
    case 'boolean':
      return <BooleanField {...(props as ShapedProps<'boolean'>)} />
    case 'choice':
      return <ChoiceField {...(props as ShapedProps<'choice'>)} />
    case 'file':
      return <FileField {...(props as ShapedProps<'file'>)} />
    case 'list':
      return <ListField {...(props as ShapedProps<'list'>)} />
    case 'object':
      return <ObjectField {...(props as ShapedProps<'object'>)} />
    case 'map':
      return <MapField {...(props as ShapedProps<'map'>)} />
    case 'branches':
      return <BranchesField {...(props as ShapedProps<'branches'>)} />
    case 'json':
      return <JsonField {...props} />
  }
}

/** A constant that is as it must be leaves nothing to decide. */
function isSettled({ described: { shape }, value, isRequired }: FieldFacts): boolean {
  if (shape.kind !== 'choice' || shape.options.length !== 1 || !isRequired) return false
  return isSameJson(shape.options[0]?.value, value)
}

/** Whether a field of this kind can show the value; numbers and choices show whatever there is. */
function fits(value: unknown, { kind }: Shape): boolean {
  if (value === undefined) return true
  if (kind === 'text' || kind === 'file') return typeof value === 'string'
  if (kind === 'number') return typeof value === 'number' || typeof value === 'string'
  if (kind === 'boolean') return typeof value === 'boolean'
  if (kind === 'list') return Array.isArray(value)
  if (kind === 'object' || kind === 'map') return isObject(value)
  return true
}
