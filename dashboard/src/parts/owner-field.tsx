/** A name of an owner, taken when it is confirmed: not each letter on the way is a question to the service. */

import { Button, Group, TextInput } from '@mantine/core'
import { useEffect, useId, useState } from 'react'

export function OwnerField({ label, value, placeholder, known, onChange }: OwnerFieldProps) {
  const [text, setText] = useState(value)
  const id = useId()
  // Back and forward change it from outside.
  useEffect(() => setText(value), [value])
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onChange(text.trim())
      }}
    >
      <Group gap={4} align="flex-end" wrap="nowrap">
        <TextInput
          label={label}
          size="xs"
          w={170}
          maxLength={255}
          placeholder={placeholder}
          list={id}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <datalist id={id}>
          {known.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <Button type="submit" size="xs" variant="default">
          Show
        </Button>
      </Group>
    </form>
  )
}

type OwnerFieldProps = {
  label: string
  value: string
  placeholder: string
  /** Names to choose from; any other is possible too. */
  known: readonly string[]
  onChange: (owner: string) => void
}
