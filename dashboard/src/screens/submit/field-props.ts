/** What a field is given: where it is, and what its schema says. */

import type { Described, Shape } from './shape.ts'
import type { Path } from './value-path.ts'

export type FieldProps = { name: string; schema: unknown; path: Path; isRequired: boolean; label?: string }

/** What is known of a field of any kind. */
export type FieldFacts = {
  id: string
  label: string
  /** The name behind the last step of the path that has one. */
  name: string
  path: Path
  value: unknown
  isRequired: boolean
  described: Described
}

/** What a field of one kind is given. */
export type ShapedProps<Kind extends Shape['kind']> = FieldFacts & {
  described: { shape: Extract<Shape, { kind: Kind }> }
}
