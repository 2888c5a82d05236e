/** Goes to the run of an id, or lists the runs whose title begins with the text. `/` leads here from everywhere. */

import { Kbd, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { SearchIcon } from '../parts/icons.tsx'
import classes from './frame.module.css'
import { useShortcut } from './shortcuts.tsx'

const RUN_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function JumpBox() {
  const navigate = useNavigate()
  const box = useRef<HTMLInputElement>(null)
  const [text, setText] = useState('')
  useShortcut('/', 'Find a run', () => box.current?.focus())
  const go = () => {
    const asked = text.trim()
    if (asked === '') return
    setText('')
    box.current?.blur()
    if (RUN_ID.test(asked)) void navigate({ to: '/runs/$runId', params: { runId: asked.toLowerCase() } })
    else void navigate({ to: '/runs', search: { text: asked } })
  }
  return (
    <search className={classes.jump}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          go()
        }}
      >
        <TextInput
          ref={box}
          size="xs"
          aria-label="Find a run by its id or the beginning of its title"
          placeholder="Run id or title"
          leftSection={<SearchIcon size={14} />}
          rightSection={<Kbd size="xs">/</Kbd>}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => event.key === 'Escape' && box.current?.blur()}
        />
      </form>
    </search>
  )
}
