/** Where one types what to find in a JSON value; Enter goes from match to match, Shift+Enter back. */

import { ActionIcon, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { ChevronDownIcon, ChevronUpIcon, SearchIcon } from './icons.tsx'
import classes from './json-view.module.css'
import { type JsonSearch, matchWords } from './json-view-search.ts'
import type { JsonPath } from './json-view-tree.ts'

export function JsonSearchBox({ search, onGo }: { search: JsonSearch; onGo: (path: JsonPath) => void }) {
  const { text, setText, matches } = search
  const [at, setAt] = useState(0)
  const go = (to: number) => {
    const next = (to + matches.length) % matches.length
    setAt(next)
    onGo(matches[next]!)
  }
  // The first match of a new text is shown as soon as it is found; `first` is the same while more are found.
  const first = matches[0]
  // biome-ignore lint/correctness/useExhaustiveDependencies: going again when only the way of going changed would steal the place
  useEffect(() => {
    setAt(0)
    if (first) onGo(first)
  }, [first])
  const hasMatches = matches.length > 0
  return (
    <>
      <TextInput
        size="xs"
        className={classes.search}
        aria-label="Search in names and values"
        placeholder="Search"
        leftSection={<SearchIcon size={14} />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && hasMatches) go(event.shiftKey ? at - 1 : at + 1)
          if (event.key === 'Escape') setText('')
        }}
      />
      {text !== '' && (
        <>
          <ActionIcon
            size="sm"
            variant="subtle"
            color="gray"
            aria-label="Previous match"
            disabled={!hasMatches}
            onClick={() => go(at - 1)}
          >
            <ChevronUpIcon />
          </ActionIcon>
          <ActionIcon
            size="sm"
            variant="subtle"
            color="gray"
            aria-label="Next match"
            disabled={!hasMatches}
            onClick={() => go(at + 1)}
          >
            <ChevronDownIcon />
          </ActionIcon>
          <span className={classes.matches} role="status">
            {matchWords(search, at)}
          </span>
        </>
      )}
    </>
  )
}
