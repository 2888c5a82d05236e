/** What is said below the name of a parameter, and the small acts that belong to it. */

import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import type { FieldFacts } from './field-props.ts'
import { useForm } from './form-context.ts'
import classes from './submit.module.css'

/** Description, limits, and what happens when it is left out. */
export function fieldNotes({ described, label, name, value }: FieldFacts): string | null {
  const { description, hints, default: given } = described
  const isRenamed = label === described.title && plainWord(label) !== plainWord(name)
  const words = [
    description,
    ...hints,
    given === undefined || value !== undefined ? null : `left out: ${shortJson(given)}`,
    isRenamed ? `named ${name}` : null,
  ]
  return words.filter(Boolean).join(' · ') || null
}

function plainWord(text: string): string {
  return text.toLowerCase().replaceAll(/[\s_-]/g, '')
}

export function shortJson(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

/** "No value" as a value of its own, where the schema knows it. */
export function NullAct({ described, label, path }: Pick<FieldFacts, 'described' | 'label' | 'path'>) {
  const { set } = useForm()
  if (!described.isNullable) return null
  return <Act label={`Set to null: ${label}`} onClick={() => set(path, null)} text="Set to null" />
}

export function Act({ label, text, onClick }: { label: string; text: string; onClick: () => void }) {
  return (
    <Button variant="subtle" size="compact-xs" aria-label={label} onClick={onClick} className={classes.act}>
      {text}
    </Button>
  )
}

/** A parameter that holds others: a frame with its name on top. */
export function Frame(props: {
  id: string
  label: string
  isRequired: boolean
  notes: string | null
  error: string | null
  acts?: ReactNode
  children: ReactNode
}) {
  const { id, label, isRequired, notes, error, acts, children } = props
  const described = [notes && `${id}-notes`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <fieldset className={classes.frame} id={id} tabIndex={-1} aria-describedby={described || undefined}>
      <legend className={classes.legend}>
        {label}
        {isRequired && (
          <span className={classes.star} aria-hidden>
            {' '}
            *
          </span>
        )}
      </legend>
      {notes && (
        <div id={`${id}-notes`} className={classes.notes}>
          {notes}
        </div>
      )}
      {error && (
        <div id={`${id}-error`} className={classes.error}>
          {error}
        </div>
      )}
      {children}
      {acts && <div className={classes.acts}>{acts}</div>}
    </fieldset>
  )
}
