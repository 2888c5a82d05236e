/** The parameters as JSON text, with what is wrong about it and where. */

import { Anchor, Button, Group, Textarea } from '@mantine/core'
import { useRef } from 'react'
import { CopyButton } from '../../parts/copy-button.tsx'
import { type Draft, draftOf, editText, textOf } from './draft.ts'
import type { FieldError } from './field-errors.ts'
import { placeOf } from './json-place.ts'
import { hasSecrets } from './secrets.ts'
import classes from './submit.module.css'

export function JsonPane({ draft, onDraft, errors, areSecretsShown, onSecretsShown }: JsonPaneProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const text = textOf(draft, areSecretsShown)
  const go = (pointer: string) => {
    const place = placeOf(text, pointer)
    area.current?.focus()
    if (place) area.current?.setSelectionRange(place.start, place.end)
  }
  return (
    <div>
      <Textarea
        ref={area}
        label="Parameters as JSON"
        value={text}
        onChange={({ currentTarget }) => onDraft(editText(draft, currentTarget.value))}
        error={draft.trouble && `Not readable yet: ${draft.trouble}`}
        autosize
        minRows={8}
        maxRows={26}
        size="sm"
        spellCheck={false}
        autoComplete="off"
        classNames={{ input: classes.code }}
      />
      {draft.trouble === null && errors.length > 0 && (
        <ul className={classes.errors} aria-label="What the service says about the JSON">
          {errors.map(({ pointer, detail }) => (
            <li key={`${pointer} ${detail}`}>
              <Anchor component="button" type="button" size="xs" onClick={() => go(pointer)}>
                line {placeOf(text, pointer)?.line ?? 1}
              </Anchor>{' '}
              <code>{pointer || '/'}</code> {detail}
            </li>
          ))}
        </ul>
      )}
      <Group gap="xs" mt={6}>
        <CopyButton text={text} label="Copy the JSON" />
        {draft.text !== null && draft.trouble === null && (
          <Button size="compact-xs" variant="subtle" onClick={() => onDraft(draftOf(draft.value))}>
            Format
          </Button>
        )}
        {hasSecrets(draft.value) && (
          <Button size="compact-xs" variant="subtle" onClick={() => onSecretsShown(!areSecretsShown)}>
            {areSecretsShown ? 'Hide secrets' : 'Show secrets'}
          </Button>
        )}
      </Group>
    </div>
  )
}

type JsonPaneProps = {
  draft: Draft
  onDraft(draft: Draft): void
  errors: FieldError[]
  areSecretsShown: boolean
  onSecretsShown(areShown: boolean): void
}
